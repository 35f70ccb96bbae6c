"""Draw a small bar or dot beside a number: this group, where it lies, and everyone.

A meter is as wide as its place on the page: all of it is strokes, which keep their width. Its
numbers are in the text beside it, so it is hidden from screen readers.
"""

from collections.abc import Sequence

from shoal.figures.svg import px

_SERIES = 6
_TALL = 24
_MIDDLE = 12


def meter_svg(
    number: int,
    here: float,
    low: float | None,
    high: float | None,
    everyone: float | None,
    *,
    is_share: bool,
    is_sure: bool = True,
) -> str:
    """Return a bar from 0 for a share, or a dot on a rail for a mean, each place from 0 to 1.

    Parameters
    ----------
    number
        The group's number, from 1, which decides the colour.
    low
        The lower end of its interval; None if it has none.
    everyone
        Everyone's value, as a tick; None for no tick.
    is_sure
        Whether the group is stable; else the bar is hatched and the interval dashed.
    """
    at, other = _across(here), None if everyone is None else _across(everyone)
    sure = "" if is_sure else " unsure"
    series = f"l{(number - 1) % _SERIES + 1}{sure}"
    parts = (_bar if is_share else _dot)(series, at, other)
    parts += _interval(low, high, sure)
    if other is not None:
        parts += _path("tick-halo", f"M{other} 1v22") + _path("tick", f"M{other} 2v20")
    return _svg("meter", parts)


def interval_svg(number: int, size: float, low: float | None, high: float | None) -> str:
    """Return the bar of a group's size with its interval, each from 0 to 1; unsure without one.

    Parameters
    ----------
    number
        The group's number, from 1.
    low
        The lower end of the interval; None if it has none.
    """
    return meter_svg(number, size, low, high, None, is_share=True, is_sure=low is not None)


def levels_svg(number: int, shares: Sequence[tuple[float, float]]) -> str:
    """Return a small bar for the share of each level, from low to high, and everyone's as ticks.

    Parameters
    ----------
    shares
        The share of each level here and for everyone, each from 0 to 1.
    """
    most = max((max(pair) for pair in shares), default=0.0) or 1.0
    wide = 100 / max(len(shares), 1)
    series = f"l{(number - 1) % _SERIES + 1}"
    parts = _path("rail", f"M0 {_TALL - 1}H100")
    for i, (here, everyone) in enumerate(shares):
        left, right = px(wide * (i + 0.12)), px(wide * (i + 0.88))
        top, other = (px(_TALL - 1 - (_TALL - 3) * each / most) for each in (here, everyone))
        parts += _path(f"level {series}", f"M{left} {_TALL - 1}V{top}H{right}V{_TALL - 1}z")
        parts += _path("tick", f"M{left} {other}H{right}")
    return _svg("meter levels", parts)


def sample_svg(kind: str) -> str:
    """Return the part of a meter that a legend explains.

    Parameters
    ----------
    kind
        "share", "mean", "levels", "everyone" or "interval".
    """
    if kind == "levels":
        return levels_svg(1, [(0.3, 0.3), (0.9, 0.6), (0.5, 0.7)])
    if kind == "everyone":
        return _svg("meter short", _path("tick", "M50 2v20"))
    parts = {
        "share": _bar("l1", "70", None),
        "mean": _dot("l1", "55", None),
        "interval": _interval(0.1, 0.9, ""),
    }
    return _svg("meter", parts[kind])


def dots_svg(before: int, after: int) -> str:
    """Return a hundred dots in five lines: those before, those added, the rest.

    Parameters
    ----------
    before
        The chance before, in 100.
    after
        The chance after, in 100.
    """
    kinds = ["before"] * before + ["added"] * (after - before) + ["rest"] * (100 - after)
    places = {
        kind: "".join(
            f"M{10 + 20 * (i % 20)} {10 + 20 * (i // 20)}h0"
            for i, each in enumerate(kinds)
            if each == kind
        )
        for kind in ("rest", "before", "added")
    }
    drawn = "".join(_path(f"dot {kind}", d) for kind, d in places.items() if d)
    return f'<svg class="fig" viewBox="0 0 400 100" aria-hidden="true">{drawn}</svg>'


def _bar(series: str, at: str, other: object) -> str:
    return _path("track", f"M0 {_MIDDLE}H100") + _path(f"amount {series}", f"M0 {_MIDDLE}H{at}")


def _dot(series: str, at: str, other: str | None) -> str:
    rail = _path("rail", f"M0 {_MIDDLE}H100M0 9v6M100 9v6")
    drift = "" if other is None else _path(f"drift {series}", f"M{other} {_MIDDLE}H{at}")
    return rail + drift + _path(f"point {series}", f"M{at} {_MIDDLE}h.01")


def _interval(low: float | None, high: float | None, sure: str) -> str:
    """Return whiskers, without a cap where the scale ends."""
    if low is None or high is None:
        return ""
    caps = "".join(f"M{_across(end)} 8v8" for end in (low, high) if 0 < end < 1)
    line = f"M{_across(low)} {_MIDDLE}H{_across(high)}{caps}"
    return _path("whisker-halo", line) + _path(f"whisker{sure}", line)


def _svg(kind: str, parts: str) -> str:
    return (
        f'<svg class="{kind}" viewBox="0 0 100 {_TALL}" preserveAspectRatio="none" '
        f'aria-hidden="true">{parts}</svg>'
    )


def _path(css: str, d: str) -> str:
    return f'<path class="{css}" d="{d}"/>'


def _across(share: float) -> str:
    return px(100 * min(max(share, 0.0), 1.0))
