"""What the last full run of the audits found, as it is shipped with this version."""

from importlib.resources import files
from typing import Any

from shoal.documents import parse_json

FILE = "verdicts.json"


def shipped_verdicts() -> dict[str, Any]:
    """Return what audits of this version found of each mechanism and estimator.

    The file is written by ``tools/audit_table.py`` from the results of the last full run.

    Examples
    --------
    >>> {each["verdict"] for each in shipped_verdicts()["verdicts"]}
    {'consistent'}
    """
    text = files("shoal.audit").joinpath(FILE).read_text(encoding="utf-8")
    content: dict[str, Any] = parse_json(text)
    return content
