from shoal.cluster.choose import CostCurve

CURVE = CostCurve((2, 3, 4), (0.5, 0.2, 0.19), (0.01, 0.2, 0.01), (0.0, 0.4, 0.3), 3, "simulation")


def test_the_band_holds_the_cost_and_never_goes_below_zero():
    for count, (low, high) in CURVE.band.items():
        assert 0 <= low <= CURVE.cost[count] <= high
    assert CURVE.band[3][0] == 0


def test_a_curve_is_the_same_after_json():
    assert CostCurve.of(CURVE.to_dict()) == CURVE
    assert CURVE.to_dict()["counts"] == [2, 3, 4]


def test_the_curve_can_be_drawn():
    figure = CURVE.plot()
    assert figure.data["chosen"] == 3
    assert dict(figure.data["points"]) == CURVE.cost
