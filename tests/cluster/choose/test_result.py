from shoal.cluster.choose import Choice
from shoal.privacy import PureDP

CURVE = {0.2: 0.1, 0.8: 0.2, 1.0: 0.9}
CHOICE = Choice(
    0.2345678, "knee", CURVE, PureDP(1), {"eps": 0.2345678}, 0.8, "Share of points", "Distance"
)


def test_the_picture_says_what_was_chosen_and_where():
    figure = CHOICE.plot()
    assert figure.title == "0.2346 chosen by knee"
    assert figure.data["chosen"] == 0.8
    assert (
        "Share of points from 0.2 to 1 across, Distance upwards. 0.2346 was chosen." in figure.alt
    )


def test_the_curve_is_the_one_drawn():
    assert dict(CHOICE.plot().data["points"]) == CURVE
