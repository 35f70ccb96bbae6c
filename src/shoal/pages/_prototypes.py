"""Build the page of groups in a table of numbers and categories, from released numbers only."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import quantity
from shoal.figures.text import format_number
from shoal.pages._cluster_parts import (
    ROW_IS_PERSON,
    USUAL_FILES,
    CodeFiles,
    count_text,
    exact_promise_lines,
    has_no_person_column,
    promise_values,
    release_settings,
    unit_of,
    without_values,
)
from shoal.pages._group_count import count_reason
from shoal.pages._groups import (
    CARD_ROWS,
    RULE_NOTE,
    Card,
    CardRow,
    ColumnText,
    Groups,
    amount_text,
    column_texts,
    interval_text,
    times_text,
    title_columns,
)
from shoal.pages.page import Fact, Line, Page, Table, bounds_origin
from shoal.privacy import exact_text

if TYPE_CHECKING:
    from shoal.cluster.prototypes import Difference, Profiles


EVIDENCE = "proofs beside the code: shoal/cluster/prototypes/estimator.proof.md and those it names"
WEAK = (
    "There are so few rows that only the sizes of the groups were counted. Shares and means are "
    "estimated from the model of the whole table, and carry no interval."
)
TOO_FEW = (
    "There are so few rows at this epsilon that one group may describe the table better: the "
    "groups may be noise."
)
TABLE_COLUMNS = 4
TABLE_SHARES = 16  # categories side by side, those that differ most between groups


def page(
    model: Any,
    *,
    title: str | None = None,
    publisher: str | None = None,
    names: Sequence[str] | None = None,
    files: CodeFiles = USUAL_FILES,
) -> Page:
    """Build the page of a fitted ``PrivateKPrototypes``.

    Parameters
    ----------
    model
        A fitted ``PrivateKPrototypes``.
    title
        Of the page; None names groups and columns.
    names
        The publisher's name of each group; None makes titles of what stands out.
    """
    from shoal.planning import describe

    profiles = model.profiles_ if names is None else model.profiles_.with_titles(names)
    counted = _counted(model, profiles)
    table = _table(model, profiles)
    columns = column_texts(model.domain, model.columns.names)
    settings = release_settings(
        None,
        model.guarantee_,
        publisher,
        bounds=f"{bounds_origin(model.domain)}: the schema of {quantity(len(columns), 'column')}",
        title=title or f"{count_text(profiles.n_groups)} by {title_columns(columns)}",
        method="Private k-prototypes",
        evidence=EVIDENCE,
        code=_code(model, files),
    )
    return Page(
        result=without_values(
            model.to_result(),
            *("synopsis_", "profiles_", "intervals_", "prototypes_", "cost_curve_"),
        ),
        settings=settings,
        summary=f"{counted} Every number carries noise, so one {_one(model)} more or less changes "
        "little of what you see.",
        facts=_facts(model, profiles),
        figures=[],
        groups=_cards(model, profiles, named=names is not None),
        curve=count_reason(describe(model).curve, profiles.n_groups, model.n_clusters),
        tables=[table],
        limits=_limits(model, profiles),
        values=_values(model, profiles),
        lines=_lines(model, profiles, counted, table),
        is_distinct=bool(model.is_certain_.any()),
    )


def _code(model: Any, files: CodeFiles) -> str:
    """Return Python code that does the same with a table of one's own."""
    options = {
        "n_public": model.n_public,
        "nonfinite": "drop" if model.nonfinite == "drop" else None,
        "random_state": model.random_state,
    }
    given = {name: value for name, value in options.items() if value is not None}
    more = "".join(f", {name}={value!r}" for name, value in given.items())
    promise = model._promise()
    amount = repr(exact_text(promise.epsilon))
    if promise.neighbours == "add-remove":
        stated = f"epsilon={amount}"
    else:
        stated = f"privacy=shoal.PureDP({amount}, neighbours={promise.neighbours!r})"
    return (
        f"import shoal\n\nschema = {files.load_text()}\n"
        f"model = shoal.cluster.PrivateKPrototypes(\n    {model.n_clusters_}, "
        f"{stated}, domain=schema{more}\n)\n"
    ) + files.fit_line("groups")


def _one(model: Any) -> str:
    return "person" if unit_of(model) == "people" else "row"


def _counted(model: Any, profiles: "Profiles") -> str:
    rows = quantity(_total(profiles), _one(model), unit_of(model))
    return f"About {rows} in {count_text(profiles.n_groups)}."


def _total(profiles: "Profiles") -> int:
    """Return the number of rows that the shown sizes add up to."""
    return round(float(profiles.sizes.sum()))


def _cautions(model: Any) -> list[str]:
    """Return warnings to read before anything else."""
    epsilon = float(model._promise().per_row().epsilon)
    # Below ten rows a column groups were no better than one: docs/decisions/mixed-tables.md.
    few = model.n_rows_ * epsilon < 10 * model.columns.d
    return [*([TOO_FEW] if few else []), *([WEAK] if model.level_ == "weak" else [])]


def _size_text(profiles: "Profiles", group: int) -> str:
    low, high = profiles.intervals.sizes_low[group], profiles.intervals.sizes_high[group]
    return (
        f"about {round(float(profiles.sizes[group])):,}, between {math.floor(low):,} and "
        f"{math.ceil(high):,}"
    )


def _cards(model: Any, profiles: "Profiles", *, named: bool) -> Groups:
    """Return a card for each group: the columns in which it differs most from everyone."""
    names = model.columns.names
    texts = dict(zip(names, column_texts(model.domain, names), strict=True))
    levels = dict(profiles.numbers)
    cards = [
        Card(
            number=group + 1,
            title=_readable(profiles.titles[group], texts),
            size=round(float(profiles.sizes[group])),
            low=math.floor(profiles.intervals.sizes_low[group]),
            high=math.ceil(profiles.intervals.sizes_high[group]),
            rows=[
                _row(each, texts[each.column], levels.get(each.column, ()))
                for each in profiles.differences(group)[:CARD_ROWS]
            ],
        )
        for group in range(profiles.n_groups)
    ]
    in_100 = round(100 * profiles.intervals.rate)
    return Groups(
        cards=cards,
        unit=unit_of(model),
        interval=f"where the value lies, {in_100} times in 100" if profiles.measured else "",
        note="The publisher named the groups." if named else RULE_NOTE,
    )


def _readable(title: str, texts: Mapping[str, ColumnText]) -> str:
    """Return a title with columns called as on the rest of the page."""
    for name in sorted(texts, key=len, reverse=True):
        title = title.replace(name, texts[name].within)
    return title[:1].upper() + title[1:]


def _row(each: "Difference", text: ColumnText, levels: Sequence[Any]) -> CardRow:
    low, high = each.span
    width = (high - low) or 1.0
    known = not math.isnan(each.low)
    first, last = ((end - low) / width if known else None for end in (each.low, each.high))
    is_share = each.value is not None
    return CardRow(
        label=_label(each, text),
        detail=_detail(each),
        here=f"{100 * each.here:.0f}" if is_share else amount_text(each.here, width),
        unit="in 100" if is_share else _unit(text, levels),
        interval=_ends(each, width) if known else "from the model",
        everyone=f"{100 * each.everyone:.0f}" if is_share else amount_text(each.everyone, width),
        at=(each.here - low) / width,
        low=first,
        high=last,
        other=(each.everyone - low) / width,
        is_share=is_share,
        is_clear=each.is_clear,
    )


def _label(each: "Difference", text: ColumnText) -> str:
    """Return the category, with its column where it says nothing alone; or the column."""
    if each.value is None:
        return text.label
    shown = each.label if each.label == str(each.value) else f"{text.label}: {each.value}"
    return shown[:1].upper() + shown[1:]


def _unit(text: ColumnText, levels: Sequence[Any]) -> str:
    """Return the unit of a number; of levels, from which to which they run."""
    return f"of 0 ({levels[0]}) to {len(levels) - 1} ({levels[-1]})" if levels else text.unit


def _detail(each: "Difference") -> str:
    if not each.is_clear:
        return "no clear difference"
    if each.value is not None:
        return times_text(each.here, each.everyone, "common")
    if each.span[0] == 0:
        return times_text(each.here, each.everyone, "much")
    apart = amount_text(abs(each.here - each.everyone), each.span[1] - each.span[0])
    return f"{apart} {'higher' if each.here > each.everyone else 'lower'}"


def _ends(each: "Difference", width: float) -> str:
    """Return the interval, the lower limit rounded down and the upper one up."""
    if each.value is not None:
        return f"{math.floor(100 * each.low)} to {math.ceil(100 * each.high)}"
    return interval_text(each.low, each.high, width)


def _amount(each: "Difference", value: float) -> str:
    if each.value is not None:
        return f"{100 * value:.0f} in 100"
    return format_number(value, 1 if each.span[1] - each.span[0] > 5 else 2)


def _table(model: Any, profiles: "Profiles") -> Table:
    """Return all groups side by side: each number and category, here and for everyone."""
    groups = profiles.by_size()
    sizes = [f"{round(float(profiles.sizes[g])):,}" for g in groups]
    rows = [[f"{unit_of(model).capitalize()}, about", *sizes, f"{_total(profiles):,}"]]
    texts = column_texts(model.domain, [name for name, _ in profiles.numbers])
    for i, text in enumerate(texts):
        width = float(profiles.spans[i][1] - profiles.spans[i][0])
        cells = [amount_text(float(profiles.means[g, i]), width) for g in groups]
        rows.append([text.axis, *cells, amount_text(float(profiles.everyone_means[i]), width)])
    rows += _share_rows(model, profiles, groups)
    note = (
        "Averages of numbers, and how many of 100 have a category. Intervals hold the true value "
        "of this table in 95 of 100 releases, by the noise alone; what another table would show "
        "they do not say. All shares, means and intervals are in profiles.csv."
    )
    columns = ["Column", *(f"Group {g + 1}" for g in groups), "Everyone"]
    return Table("All groups side by side", columns, rows, note=note, left=["Column"])


def _share_rows(model: Any, profiles: "Profiles", groups: Sequence[int]) -> list[list[str]]:
    """Return lines of the categories that differ most between groups, in their order."""
    texts = column_texts(model.domain, [name for name, _ in profiles.categories])
    spread = [
        (float(np.ptp(profiles.shares[i][:, code])), i, code)
        for i, (_, labels) in enumerate(profiles.categories)
        for code in range(len(labels))
    ]
    shown = sorted((i, code) for _, i, code in sorted(spread, reverse=True)[:TABLE_SHARES])
    rows = []
    for i, code in shown:
        shares = [f"{100 * float(profiles.shares[i][g, code]):.0f}" for g in groups]
        everyone = f"{100 * float(profiles.everyone_shares[i][code]):.0f}"
        value = profiles.categories[i][1][code]
        rows.append([f"{texts[i].label}: {value}, of 100", *shares, everyone])
    return rows


def _short(each: "Difference") -> str:
    return f"{each.label} {_amount(each, each.here)}, everyone {_amount(each, each.everyone)}"


def _facts(model: Any, profiles: "Profiles") -> list[Fact]:
    unit = unit_of(model).capitalize()
    basis = ("Measured", "on the rows, with noise") if profiles.measured else ("Modelled", WEAK)
    widest = max(
        float(high - low)
        for low, high in zip(
            profiles.intervals.sizes_low, profiles.intervals.sizes_high, strict=True
        )
    )
    return [
        Fact(f"{unit}, about", f"{_total(profiles):,}", "with noise, unless it was public"),
        Fact("Groups", str(profiles.n_groups), "largest first"),
        Fact("Size of a group", f"± {math.ceil(widest / 2):,}", "in 95 of 100 releases"),
        Fact("Shares and means", *basis),
    ]


def _limits(model: Any, profiles: "Profiles") -> list[str]:
    limits = [
        *_cautions(model),
        "A group is what lies nearest to its prototype: there may be no gap between two groups.",
        "Other people in the table would have changed the groups too.",
        "Everyone's shares are those of the released columns, so groups may not add up to them "
        "exactly.",
    ]
    if has_no_person_column(model):
        limits.append(ROW_IS_PERSON)
    return limits


def _values(model: Any, profiles: "Profiles") -> dict[str, Any]:
    """Return what ``--json`` prints."""
    return promise_values(model.guarantee_) | {
        "n_clusters": profiles.n_groups,
        "counted": unit_of(model),
        "rows_about": _total(profiles),
        "level": model.level_,
        "measured": profiles.measured,
        "groups": [
            {
                "group": group + 1,
                "title": profiles.titles[group],
                "rows_about": round(float(profiles.sizes[group])),
                "rows_low": math.floor(profiles.intervals.sizes_low[group]),
                "rows_high": math.ceil(profiles.intervals.sizes_high[group]),
                "differences": [_difference(each) for each in profiles.differences(group)],
            }
            for group in profiles.by_size()
        ],
    }


def _difference(each: "Difference") -> dict[str, Any]:
    known = not math.isnan(each.low)
    return {
        "column": each.column,
        "value": None if each.value is None else str(each.value),
        "here": each.here,
        "low": each.low if known else None,
        "high": each.high if known else None,
        "everyone": each.everyone,
        "clear": each.is_clear,
    }


def _lines(model: Any, profiles: "Profiles", counted: str, table: Table) -> list[Line | Table]:
    """Return what a terminal shows: the promise, and a line or two for each group."""
    lines: list[Line | Table] = [
        *exact_promise_lines(model.guarantee_),
        Line("Found", counted),
        *(Line("", text) for text in _cautions(model)),
    ]
    for group in profiles.by_size():
        size = _size_text(profiles, group)
        lines.append(Line(f"Group {group + 1}", f"{profiles.titles[group]}: {size}."))
        short = "; ".join(_short(each) for each in profiles.differences(group)[:TABLE_COLUMNS])
        lines.append(Line("", f"{short}."))
    return lines
