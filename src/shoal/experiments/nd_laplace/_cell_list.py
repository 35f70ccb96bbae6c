"""The cells of the thesis' experiments: its tables, budgets and mechanisms."""

from collections.abc import Iterator

from shoal.experiments._cells import Cell
from shoal.experiments.nd_laplace._data import is_here
from shoal.experiments.nd_laplace._mechanisms import AS_WRITTEN, OURS

BUDGETS = (0.05, 0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 9.0)
PRIVACY_BUDGETS = (0.1, 0.5, 0.7, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 5.0, 7.0, 9.0)
SETS = ("seeds-2d", "seeds-3d", "seeds-nd", "heart-2d", "heart-3d", "heart-nd")
BLOBS = tuple(f"blobs-{n}-{d}d" for n in (50, 200) for d in (2, 3, 5))
DRAFT = "blobs-50-2d"  # the made-up table of an earlier draft
GAME_BLOBS = ("blobs-2000-2d", "blobs-2000-3d", "blobs-2000-5d")
SHAPES = ("circle", "line", "skewed")
TWINS = {  # the broken form behind each mechanism, and how many draws show it
    "grid from the rows, inner person": 10_000,
    "remap around the true row, inner person": 10_000,
    "resample until inside, distance 1": 600_000,
    "Piecewise, epsilon on every column, d = 2": 200_000,
    "3-D angles swapped, first axis": 200_000,
    "unit vector read as angles, d = 7, last axis": 200_000,
}
_PRIVATE = ("laplace", "laplace-truncated", "laplace-optimal-truncated", "piecewise")
_QUICK_GAMES = {  # what the rates that the thesis prints need, and one game a figure
    "seeds-2d": (("laplace", "piecewise"), (0.5, 5.0), 5),
    "heart-2d": (("laplace", "piecewise"), (9.0,), 5),
    "seeds-3d": (("laplace-optimal-truncated",), (5.0,), 5),
    "heart-3d": (("laplace",), (1.0,), 3),
    "seeds-nd": (("laplace",), (1.0,), 3),
    "heart-nd": (("laplace",), (1.0,), 3),
}


def cells(quick: bool) -> list[Cell]:
    """Return all cells; those of tables that are not here are left out."""
    planned = _quick() if quick else _full()
    return [cell for cell in planned if is_here(str(cell.settings.get("data", "")))]


def _full() -> Iterator[Cell]:
    for d in (1, 2, 3, 5, 7, 10):
        yield Cell("noise", {"d": d, "epsilon": 1.0, "draws": 100_000})
    for data in (*SETS, "blobs-200-2d", DRAFT):
        yield Cell("settings", {"data": data}, cost=3)
    for data in (*SETS, *BLOBS):
        yield from _utility(data, (*AS_WRITTEN, *OURS), BUDGETS, draws=10)
    for data in SETS:
        yield from _clusterers(data, ("laplace-optimal-truncated", "piecewise"), BUDGETS, draws=10)
    yield from _clusterers(DRAFT, ("laplace",), BUDGETS, draws=10)
    for data in SETS:
        yield from _privacy("privacy", data, _PRIVATE, PRIVACY_BUDGETS, games=10)
    for data in GAME_BLOBS:
        yield from _privacy("dimensions", data, ("laplace",), (0.5, 1.0, 5.0), games=10)
    for data in SHAPES:
        yield from _utility(data, ("laplace", "bayes"), BUDGETS, draws=10, part="shapes")
        yield from _privacy("shape games", data, ("laplace",), (0.5, 1.0, 5.0), games=10)
    yield from _nodes(("seeds-2d", "heart-2d"), (0.5, 1.0, 5.0), draws=10)
    for data in SETS:
        yield from _equal(data, (0.5, 1.0, 2.0, 5.0, 9.0), draws=10)
    yield Cell("stages", {"data": "heart-3d", "epsilon": 0.1})
    for twin, draws in TWINS.items():
        yield Cell("audits", {"twin": twin, "draws": draws}, cost=2)


def _quick() -> Iterator[Cell]:
    for d in (1, 2, 3, 7, 10):
        yield Cell("noise", {"d": d, "epsilon": 1.0, "draws": 20_000}, cost=0.2)
    for data in ("seeds-2d", "heart-2d", "blobs-200-2d", DRAFT):
        yield Cell("settings", {"data": data}, cost=3)
    for data in ("seeds-2d", "seeds-3d", "seeds-nd"):
        yield from _utility(data, (*AS_WRITTEN, *OURS), (0.5, 1.0, 5.0), draws=4)
    yield from _utility("heart-2d", ("laplace", "piecewise"), (0.5, 1.0, 9.0), draws=10)
    yield from _utility("blobs-200-2d", ("laplace", "clamp"), (0.5, 5.0), draws=4)
    for data in ("heart-3d", "heart-nd"):
        yield from _utility(data, _PRIVATE, (1.0,), draws=2)
    for data in SETS:
        large = data.startswith("heart")
        yield from _clusterers(
            data,
            ("laplace-optimal-truncated", "piecewise"),
            (5.0,) if large else (0.5, 5.0),
            draws=2 if large else 3,
        )
    for data, (mechanisms, budgets, games) in _QUICK_GAMES.items():
        yield from _privacy("privacy", data, mechanisms, budgets, games)
    for data in (GAME_BLOBS[0], GAME_BLOBS[2]):
        yield from _privacy("dimensions", data, ("laplace",), (1.0,), games=4)
    for data in SHAPES:
        yield from _utility(data, ("laplace",), (0.5, 2.0), draws=4, part="shapes")
        yield from _privacy("shape games", data, ("laplace",), (1.0,), games=4)
    yield from _nodes(("seeds-2d",), (1.0,), draws=4)
    yield from _clusterers(DRAFT, ("laplace",), (0.5, 5.0), draws=3)
    yield from _utility(DRAFT, ("laplace", "clamp"), (0.5, 5.0), draws=4)
    for data in ("seeds-2d", "blobs-200-3d"):
        yield from _equal(data, (1.0, 5.0), draws=4)
    yield Cell("stages", {"data": "heart-3d", "epsilon": 0.1})
    for twin in list(TWINS)[:3]:
        yield Cell("audits", {"twin": twin, "draws": TWINS[twin]})
    yield Cell(
        "audits", {"twin": "Piecewise, epsilon on every column, d = 2", "draws": 40_000}, cost=3
    )


def _utility(
    data: str, mechanisms: tuple[str, ...], budgets: tuple[float, ...], draws: int,
    part: str = "utility",
) -> Iterator[Cell]:  # fmt: skip
    cost = draws * (1.0 if data.startswith("heart") else 0.1)
    for mechanism in mechanisms:
        if mechanism == "published angles" and data.endswith("2d"):
            continue  # the fault of two dimensions is that of a draft, not of the published code
        for epsilon in budgets:
            settings = {"data": data, "mechanism": mechanism, "epsilon": epsilon, "draws": draws}
            yield Cell(part, settings, cost)


def _clusterers(
    data: str, mechanisms: tuple[str, ...], budgets: tuple[float, ...], draws: int
) -> Iterator[Cell]:
    large = data.startswith("heart")
    for mechanism in mechanisms:
        for epsilon in budgets:
            settings = {"data": data, "mechanism": mechanism, "epsilon": epsilon, "draws": draws}
            yield Cell("clusterers", {**settings, "ap": not large}, draws * (3.0 if large else 0.3))


def _privacy(
    part: str, data: str, mechanisms: tuple[str, ...], budgets: tuple[float, ...], games: int
) -> Iterator[Cell]:
    common = {"data": data, "games": games, "shadows": 3}
    yield Cell(part, {**common, "mechanism": "none", "epsilon": 0.0, "query": "true"}, games / 2)
    for mechanism in mechanisms:
        for epsilon in budgets:
            for query in ("true", "perturbed"):
                settings = {**common, "mechanism": mechanism, "epsilon": epsilon, "query": query}
                yield Cell(part, settings, games / 2)


def _nodes(tables: tuple[str, ...], budgets: tuple[float, ...], draws: int) -> Iterator[Cell]:
    for data in tables:
        for epsilon in budgets:
            for nodes in (4, 8, 12, 24, 48):
                settings = {"data": data, "epsilon": epsilon, "nodes": nodes, "draws": draws}
                yield Cell("nodes", settings, draws * 0.1)


def _equal(data: str, budgets: tuple[float, ...], draws: int) -> Iterator[Cell]:
    for mechanism in ("laplace", "piecewise on records", "hybrid on records"):
        for epsilon in budgets:
            settings = {"data": data, "mechanism": mechanism, "epsilon": epsilon, "draws": draws}
            yield Cell("equal", settings, draws * 0.1)
