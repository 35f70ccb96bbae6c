"""What the benchmark of k-means runs: tables, budgets, methods, and what is to be reached."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from clustering.data import Family, blobs, cube, digits, stored, stretched, unequal, wide
from clustering.hard import far_families, hard_families, public_sets, wide_and_far
from clustering.packaged import packaged_sets

from shoal import Box
from shoal.synopsis import AdaptiveGrid

SEEDS = range(500, 520)
HARD_SEEDS = range(740, 750)  # 700 to 729 were looked at before
FAR_SEEDS = range(880, 890)  # nothing was tuned on these
FROZEN_SEEDS = range(1990, 1995)
# Named before any of them was run with any rule; run once, at the end of a change.
FROZEN = ("heart", "vehicle", "vowel", "penbased", "texture", "banana", "phoneme", "haberman",
          "target", "wingnut", "engytime")  # fmt: skip
# Beside ours: knows the groups; another commit; one noisy mean of all rows.
ORACLE, FORMER, ONE_MEAN = "oracle", "former", "one mean"
SOME_DELTA = "delta 1e-6"
OURS: dict[str, dict[str, Any]] = {
    "auto": {},
    SOME_DELTA: {},
    "adaptive-grid": {"method": "adaptive-grid"},
    "uniform-grid": {"method": "uniform-grid"},
    "privtree": {"method": "privtree"},
    "lloyd": {"method": "lloyd"},
    "hybrid": {"method": "hybrid"},
    "LETEO, as printed": {
        "method": AdaptiveGrid(consistency=False, negative="zero"),
        "refine": False,
    },
}
TEN_ROWS = "10 rows a person"  # the whole budget covers ten rows of one person
BUDGETS = (0.1, 0.5, 1.0, 2.0)
EACH = tuple(name for name in OURS if name != SOME_DELTA)
CITY = Box.geo(latitude=(40.4, 41.0), longitude=(-74.3, -73.6))
SQUARE = Box(x=(0, 1_000_000), y=(0, 1_000_000))


class Case(NamedTuple):
    """A family of tables, the budgets and methods to try, and what is to be reached."""

    family: Family
    methods: Sequence[str] = ("auto", "diffprivlib")
    epsilons: Sequence[float] = (1.0,)
    at_most: dict[float, float] = {}  # noqa: RUF012 - never changed
    seeds: Sequence[int] = SEEDS
    peer_seeds: Sequence[int] = SEEDS


def cases() -> list[Case]:
    return [
        *_clean(),
        *_compared(),
        *_many_columns(),
        *_many_rows(),
        *_held_out(),
        *_real(),
        *_hard(),
        *_far(),
        *_packaged(),
    ]


def _clean() -> list[Case]:
    """Blobs, apart and overlapping, in 2 to 8 columns."""
    return [
        Case(
            _made(name, rows(10_000, d), d),
            (*EACH, "diffprivlib") if d in (2, 4, 8) else ("auto", "diffprivlib"),
            BUDGETS if d in (2, 4, 8) else (1.0,),
            {1.0: 1.02 if d <= 5 else 1.05} | ({0.1: 1.12} if (name, d) == ("blobs", 2) else {}),
        )
        for name, rows in (("blobs", blobs), ("wide", wide))
        for d in range(2, 9)
    ]


def _compared() -> list[Case]:
    """Small sets that others report on."""
    s1 = Family("s1", lambda _: stored("s1", "x", "y"), SQUARE, 15, new_rows=False)
    some = ("auto", "privtree", "hybrid", "diffprivlib")
    to_reach = ((4, {}), (7, {1.0: 1.22}), (10, {}))
    return [
        Case(s1, (*EACH, "diffprivlib"), BUDGETS, {1.0: 1.02}),
        *(Case(_digits(d), some, BUDGETS, at_most) for d, at_most in to_reach),
    ]


def _many_columns() -> list[Case]:
    methods = ("auto", SOME_DELTA, "diffprivlib")
    return [
        *(Case(_digits(d), methods, at_most={1.0: 1.30}) for d in (16, 32)),
        *(
            Case(_made("blobs", blobs(10_000, d), d), methods, at_most={1.0: limit})
            for d, limit in ((16, 1.08), (32, 1.35))
        ),
    ]


def _many_rows() -> list[Case]:
    """diffprivlib takes minutes here: fewer seeds of it."""
    few, large = SEEDS[:5], {2: 1.005, 4: 1.005, 8: 1.02}
    return [
        *(
            Case(_made("blobs 100k", blobs(100_000, d), d), epsilons=(0.1, 1.0), peer_seeds=few)
            for d in (4, 8)
        ),
        *(
            Case(
                _made("blobs 1M", blobs(1_000_000, d), d, new_rows=False),
                at_most={1.0: limit},
                peer_seeds=few[:2],
            )
            for d, limit in large.items()
        ),
    ]


def _held_out() -> list[Case]:
    families = {
        "held out: stretched": stretched(10_000, 8),
        "held out: noisy": stretched(10_000, 8, noise=0.05),
        "held out: unequal": unequal(10_000, 8),
    }
    return [Case(_made(name, rows, 8), epsilons=(0.1, 1.0)) for name, rows in families.items()]


def _real() -> list[Case]:
    """A hundred groups; and check-ins, of which some people have hundreds."""
    birch = Family("birch1", lambda _: stored("birch1", "x", "y"), SQUARE, 100, new_rows=False)
    city = Family("gowalla_nyc", lambda _: stored("gowalla_nyc", "latitude", "longitude"),
                  CITY, 20, new_rows=False)  # fmt: skip
    return [
        Case(birch, peer_seeds=SEEDS[:3]),
        Case(city, ("auto", TEN_ROWS, "diffprivlib"), peer_seeds=SEEDS[:3]),
    ]


def _hard() -> list[Case]:
    """A family for each way to fail, and small public sets: seeds that nothing was tuned on."""
    at_most = {
        f"{name} 100k, d = {d}": 1.05
        for name in ("far groups", "corner", "unequal")
        for d in (8, 16)
    }
    at_most |= {f"wide box 5k, d = {d}": 1.1 if d <= 5 else 1.3 for d in (1, 2, 3, 5, 8)}
    return [
        Case(
            family,
            ("auto",),
            (0.1, 1.0),
            {1.0: at_most[family.name]} if family.name in at_most else {},
            HARD_SEEDS,
        )
        for family in (*hard_families(), *public_sets())
    ]


def _far() -> list[Case]:
    """Far groups of few rows, and few rows; the others fit are the oracle and a former checkout."""
    at_most = {"tiny groups, d = 2": {0.5: 1.3}, "tiny groups, d = 4": {0.5: 2.0}}
    at_most |= {"tiny groups, d = 8": {1.0: 3.0}, "lognormal, d = 1": {1.0: 1.4}}
    at_most |= {"tiny groups 100k, d = 16": {1.0: 3.0}}
    return [
        Case(
            family,
            ("auto", ORACLE, FORMER, ONE_MEAN, "diffprivlib"),
            (0.5, 1.0),
            at_most.get(family.name, {}),
            FAR_SEEDS,
            FAR_SEEDS[:2],
        )
        for family in far_families()
    ]


def _packaged() -> list[Case]:
    """More small public sets: what is beside them says how near a release could have come."""
    return [
        Case(family, ("auto", ORACLE, FORMER, ONE_MEAN), (0.1, 0.5, 1.0), {}, FAR_SEEDS)
        for family in packaged_sets()
    ]


def frozen() -> list[Case]:
    """Eleven public sets, and far groups in a box that is too wide."""
    far = Family("wide and far 30k, d = 5", wide_and_far(30_000, 5), cube(5), 8)
    return [
        Case(family, ("auto", ORACLE, FORMER), (0.1, 0.5, 1.0), {}, FROZEN_SEEDS)
        for family in (*packaged_sets(FROZEN), far)
    ]


def _made(name: str, rows: Any, d: int, new_rows: bool = True) -> Family:
    return Family(f"{name}, d = {d}", rows, cube(d), 10, new_rows)


def _digits(d: int) -> Family:
    return Family(f"digits, d = {d}", lambda _: digits(d), cube(d), 10, False)
