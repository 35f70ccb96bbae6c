"""Make one row a person from linked tables: check the file, explain a row, write the table."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InvalidSetting, quantity, sentence
from shoal.jobs._progress import Progress

if TYPE_CHECKING:
    from shoal.domain.features import FeaturesFile
    from shoal.engine import FeatureTable

_PERIOD = re.compile(r"(\d{4}-\d{2}-\d{2}):(\d{4}-\d{2}-\d{2})")


@dataclass(frozen=True, kw_only=True)
class FeaturesRequest:
    """A table of people that is asked for: a features file, and where the table goes.

    Parameters
    ----------
    file
        The features file.
    output
        The Parquet file to write; its domain goes beside it, as .yaml.
    overwrite
        Whether older files may be replaced.
    period
        Another period than the file's, as ``2026-03-02:2026-12-14``.
    replaced
        Other paths of tables, as ``log=events-2026/*.parquet``.
    """

    file: Path
    output: Path | None = None
    overwrite: bool = False
    period: str | None = None
    replaced: tuple[str, ...] = ()

    def read(self) -> "FeaturesFile":
        """Read the file and refuse what it may not say; no table is opened."""
        return features_file_of(self.file, self.period, self.replaced)


def features_file_of(
    file: Path, period: str | None = None, replaced: tuple[str, ...] = ()
) -> "FeaturesFile":
    """Read a features file with another period and other paths, as a command line has them.

    Parameters
    ----------
    file
        The features file.
    period
        Another period than the file's, as ``2026-03-02:2026-12-14``.
    replaced
        Other paths of tables, as ``log=events-2026/*.parquet``.
    """
    from shoal.domain.features import FeaturesFile

    tables = dict(map(_replaced_table, replaced))
    return FeaturesFile.load(file, period=_period_of(period), tables=tables)


def check_features(request: FeaturesRequest) -> dict[str, Any]:
    """Say what a features file makes and what it takes as public; no table of people is opened.

    Parameters
    ----------
    request
        What is asked for.
    """
    file = request.read()
    for name, table in file.public.items():
        from shoal.engine.feature_table import public_rows

        public_rows(name, table, file.path_of(table.table))
    return described(file)


def described(file: "FeaturesFile") -> dict[str, Any]:
    """Return what a file says, as data: columns in words, the period, what is public."""
    schema = file.schema.to_dict()
    period = file.period
    return {
        "person": file.person,
        "who": file.people.who,
        "period": {
            "from": str(period.start),
            "until": str(period.end),
            "zone": period.zone,
            "arrived_before": None if period.arrived_before is None else str(period.arrived_before),
        },
        "columns": schema["columns"],
        "features": {feature.name: feature.words for feature in file.features},
        "public": {name: table.source for name, table in file.public.items()},
        "hash": file.digest,
    }


def row_setting(table: "FeatureTable", used: Sequence[str]) -> dict[str, Any]:
    """Return what a page says of a row: all of it is public, and none of it is of the rows.

    Parameters
    ----------
    table
        The table that the features file describes.
    used
        The columns of it that the page is about.
    """
    file, digests = table.file, table.public_digests()
    period, labels = file.period, file.schema.labels
    words = {one.name: one.words for one in file.features}
    columns = [[labels.get(n, n), words.get(n, "from the table of people")] for n in used]
    public = [
        {"name": name, "source": one.source, "sha256": digests.get(name)}
        for name, one in file.public.items()
    ]
    return {
        "person": file.person,
        "from": str(period.start),
        "until": str(period.end),
        "zone": period.zone,
        "arrived_before": None if period.arrived_before is None else str(period.arrived_before),
        "columns": columns,
        "public": public,
        "sha256": file.digest,
    }


def write_features(
    request: FeaturesRequest, progress: Progress | None = None
) -> tuple["FeatureTable", list[Path]]:
    """Compute the table and write it with its domain, both or neither.

    Parameters
    ----------
    request
        What is asked for.
    progress
        Where two steps are shown; None for nowhere.
    """
    import yaml

    from shoal.engine import features
    from shoal.files import atomic_file

    progress = Progress() if progress is None else progress
    output = request.output
    if output is None or output.suffix != ".parquet":
        raise InvalidSetting(
            sentence("{output} must be a file that ends in .parquet."),
            sentence("E.g. {output:pupils.parquet}; its domain is written beside it."),
            setting="output",
        )
    table = features(request.read())
    table.on_progress(progress.count_rows)
    domain = output.with_suffix(".yaml")
    with atomic_file(domain, request.overwrite) as part:
        progress.step("Reading events")
        content = table.domain.to_dict()
        text = yaml.safe_dump(content, sort_keys=False, default_flow_style=None, allow_unicode=True)
        part.write_text(text, encoding="utf-8")
        table.to_parquet(output, request.overwrite)
    return table, [output, domain]


def explain_features(request: FeaturesRequest, person: str) -> dict[str, Any]:
    """Return one person's row and how many events each value takes; for the holder alone.

    Parameters
    ----------
    request
        What is asked for.
    person
        The person's id.
    """
    from shoal.engine import features

    row, behind = features(request.read()).explain(person)
    if row is None:
        raise InvalidSetting(
            "Nobody in the result has this id.",
            "Check its spelling, and `people` and `id` in the file.",
            setting="explain",
        )
    return {name: {"value": value, "events": behind.get(name)} for name, value in row.items()}


def holder_texts(table: "FeatureTable") -> list[str]:
    """Return sentences about rows that were left out or moved: for the holder alone."""
    tally = table.tally
    if tally is None:
        return []
    texts = [f"People: {tally.people:,}, of whom {tally.without_events:,} without events."]
    for name, counts in tally.events.items():
        left = [f"{n:,} {why}" for why, n in counts.items() if n and why != "counted"]
        strangers = tally.strangers.get(name, 0)
        left += [f"{strangers:,} of people without a row"] if strangers else []
        counted = quantity(counts["counted"], "row")
        texts.append(f"{name}: {counted} counted" + "".join(f", {text}" for text in left) + ".")
        if counts["counted"] and strangers == counts["counted"]:
            texts.append("No event matched a person: are ids spelt alike?")
    above = {name: n for name, n in tally.above.items() if n}
    if above:
        listed = ", ".join(f"{name} of {n:,}" for name, n in above.items())
        texts.append(f"Beyond the bounds, so moved to them: {listed}.")
    return texts


def _replaced_table(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise InvalidSetting(
            sentence("{set} names a table and its path."), "E.g. --set log=events-2026.parquet."
        )
    return name, path


def _period_of(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    if text.isdecimal() and len(text) == 4:
        return f"{text}-01-01", f"{int(text) + 1}-01-01"
    match = _PERIOD.fullmatch(text)
    if match is None:
        raise InvalidSetting(
            sentence("{period} is a year, or the first day and the end."),
            sentence("E.g. {period:2026-03-02:2026-12-14}."),
            setting="period",
        )
    return match[1], match[2]


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def events_behind(explained: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return lines of an explanation: column, value, events."""
    return [
        (name, _shown(one["value"]), "" if one["events"] is None else f"{one['events']:.0f}")
        for name, one in explained.items()
    ]
