"""What every clusterer does alike: ``fit_predict``, and its groups as text and in a notebook."""

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.errors import quantity
from shoal.privacy.notebook_html import table_html

_MOST_GROUPS, _MOST_COLUMNS = 20, 6  # what fits on a screen


class GroupsMixin:
    """Mixin of clusterers with ``fit`` and ``predict``; the groups are shown once it is fitted."""

    def fit_predict(self, X: Any, y: None = None) -> Any:
        """Fit the model, and return the cluster of each row: for the holder of the rows.

        The same as ``fit(X).predict(X)``: labels tell of single rows, and are not to be published.

        Parameters
        ----------
        X
            The rows, as ``fit`` takes them.
        y
            Ignored; scikit-learn's pipelines pass it.
        """
        model: Any = self
        return model.fit(X).predict(X)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        settings = super().__repr__(N_CHAR_MAX)  # type: ignore[call-arg]
        return f"{settings}\n{groups_text(self)}" if _is_fitted(self) else settings

    def _html_repr(self) -> str:
        shown: str = super()._html_repr()  # type: ignore[misc]
        return shown + groups_html(self) if _is_fitted(self) else shown

    def _group_values(self) -> Mapping[str, Sequence[Any]]:
        """Return what stands for the groups: for each column, a value of every group."""
        raise NotImplementedError


def groups_text(model: Any) -> str:
    """Return the groups of a fitted model as lines of text, from released numbers."""
    heads, rows = _group_table(model)
    lines = [heads, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = (zip(line, widths, strict=True) for line in lines)
    table = ("  ".join(text.rjust(width) for text, width in line) for line in padded)
    headline = f"{quantity(model.n_clusters_, 'group')}; {model.guarantee_}."
    return "\n".join([headline, *table, *_left_out(model)])


def groups_html(model: Any) -> str:
    """Return the groups of a fitted model as HTML, from released numbers; text is escaped."""
    caption = " ".join([f"{quantity(model.n_clusters_, 'group')}.", *_left_out(model)])
    return table_html(*_group_table(model), caption=caption)


def _is_fitted(model: Any) -> bool:
    # The promise is set last, so that a fit that stopped shows no half of its groups.
    return hasattr(model, "guarantee_")


def _left_out(model: Any) -> list[str]:
    groups = model.n_clusters_ - _MOST_GROUPS
    columns = len(model.feature_names_in_) - _MOST_COLUMNS
    return [
        *([f"{quantity(groups, 'more group')}."] if groups > 0 else []),
        *([f"{quantity(columns, 'more column')}."] if columns > 0 else []),
    ]


def _group_table(model: Any) -> tuple[list[str], list[list[str]]]:
    """Return headings, and a line for each group: its number, what stands for it, its size."""
    shown = dict(list(model._group_values().items())[:_MOST_COLUMNS])
    sizes = [f"{round(float(size)):,}" for size in model.cluster_sizes_]
    certain = model.is_certain_
    if certain is not None:
        marks = ("" if sure else " (uncertain)" for sure in certain)
        sizes = [size + mark for size, mark in zip(sizes, marks, strict=True)]
    numbers = [str(i + 1) for i in range(model.n_clusters_)]
    values = [[value_text(value) for value in column] for column in shown.values()]
    unit = "Reports" if hasattr(model, "n_reports_") else "Rows"
    rows = [list(line) for line in zip(numbers, *values, sizes, strict=True)]
    return ["Group", *shown, f"{unit}, about"], rows[:_MOST_GROUPS]


def value_text(value: Any) -> str:
    """Format a value of a group: a number to four digits, anything else as it is."""
    return f"{value:,.4g}" if isinstance(value, float) else str(value)
