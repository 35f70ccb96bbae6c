import inspect

import numpy as np

import shoal.mechanisms
from shoal.audit import Case, shipped

# Parts of another mechanism, or what goes in and comes out.
NO_MECHANISMS = {"Choices", "Intervals", "Prior", "Reports", "Splits", "TreeCounts"}


def test_every_mechanism_that_is_public_has_a_case():
    names = " ".join(shipped).replace("-", "").replace(" ", "")
    other = {"Exponential": "thresholddraw", "SphericalLaplace": "spherical"}
    for name in shoal.mechanisms.__all__:
        made = getattr(shoal.mechanisms, name)
        if inspect.isclass(made) and name not in NO_MECHANISMS:
            assert other.get(name, name).lower() in names, name


def test_every_remap_has_a_case():
    assert {"clamp at 1", "snap at 1", "bayes remap"} <= set(shipped)


def test_every_case_says_what_its_pair_is_and_has_a_claim():
    for case in shipped.values():
        assert isinstance(case, Case)
        assert case.about
        assert case.claim is not None


def test_a_case_is_repeatable():
    case = shipped["sparse grid"]
    assert case.run(draws=2_000) == case.run(draws=2_000)


def test_grids_of_one_cell_are_cells_of_one_grid():
    """An empty cell shows with probability P[noise >= 3], an occupied one with P[noise >= 2]."""
    draw = shipped["sparse grid"].mechanism.draw
    a = np.exp(-1.0)
    for rows, reach in ((0, a**3 / (1 + a)), (1, a**2 / (1 + a))):
        shown = np.mean(draw(rows, 100_000, np.random.default_rng(rows)) > 0)
        assert abs(shown - reach) < 4.9 * np.sqrt(reach / 100_000)
