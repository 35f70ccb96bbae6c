"""Turn a result into all that its page may say: one plain dictionary, also ``report.json``.

The template sees this dictionary and nothing else, so a page cannot show what is not in it. Every
value enters through a leaf: ``Public`` and ``Released`` pass, anything else is refused by name.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from importlib.metadata import version
from typing import Any

from shoal.documents import to_plain
from shoal.errors import InvalidSetting, NotPublishable, setting
from shoal.figures import Figure, dots
from shoal.privacy import (
    ApproxDP,
    Budget,
    Guarantee,
    Ledger,
    LocalDP,
    Protected,
    Public,
    PureDP,
    Released,
    Result,
    Unprotected,
)
from shoal.privacy.results import Leaf
from shoal.privacy.wording import SIMULATION, Promise, in_all, promise
from shoal.privacy.wording.amounts import (
    advantage,
    amount,
    belief,
    decimal,
    hundredths,
    in_100,
    odds,
    one_in,
    remaining,
    round_down,
    round_up,
)

NOT_STATED = "not stated"
_BELIEFS = (1, 10, 50, 90)  # in 100: from a faint suspicion to near certainty


def findings(
    result: Result,
    audience: str = "public",
    *,
    ledger: Ledger | None = None,
    files: Iterable[Mapping[str, str]] = (),
) -> dict[str, Any]:
    """Return everything a page says, as plain values.

    Parameters
    ----------
    result
        Settings a page has a place for: ``title``, ``publisher``, ``purpose``, ``method``,
        ``holder`` (who saw the rows), ``bounds``, ``noise``, ``evidence``, ``source``, ``code``,
        ``context`` (see ``promise``); the rest is listed. Released values likewise:
        ``summary``, ``facts``, ``groups``, ``figures``, ``tables``, ``errors``, ``budgets``,
        ``curve``, ``extra``, ``outsider``; and protected ones: ``facts``, ``figures``,
        ``tables``, ``lines``.
    audience
        ``"public"``: the ``protected`` part of the result stays out, and a protected or unmarked
        value anywhere else is an error rather than a gap. ``"curator"``: the protected part is
        added in a section of its own; such a page is for the holder of the rows alone.
    ledger
        To say what was promised about this table in all, and what is left.
    files
        ``{"name", "sha256"}`` of each released file.

    Raises
    ------
    NotPublishable
        If a setting or a released value is, or holds, a ``Protected`` leaf, or no leaf at all.
    NotPublishable
        If nothing is promised and ``source`` is neither "synthetic" nor "public".
    """
    if audience not in ("public", "curator"):
        raise InvalidSetting(
            "The audience is not known.", "Choose 'public' or 'curator'.", setting="audience"
        )
    settings = {name: _public_value(name, leaf, Public) for name, leaf in result.settings.items()}
    released = {name: _public_value(name, leaf, Released) for name, leaf in result.released.items()}
    # Before anything is written: a page must not exist first and be withdrawn later.
    _check_publishable(result.guarantee, settings)
    promised = promise(result.guarantee, **settings.pop("context", {}))
    account = _account(result.guarantee, ledger)
    promised = replace(promised, fails=promised.fails + in_all(result.guarantee, account["total"]))
    return {
        "schema": "shoal.report/1",
        "audience": audience,
        "kind": result.kind,
        "simulation": result.guarantee.simulation,
        "banner": SIMULATION if result.guarantee.simulation else None,
        "guarantee": result.guarantee.to_dict(),
        "sentences": to_plain(asdict(promised)),
        "lead": _lead_parts(promised),
        "limits": _limits(result.guarantee),
        "limits_in_all": _limits(account["total"]) if account["earlier"] else None,
        "label": _label(promised, settings, account, result.guarantee.simulation),
        "figures": [*_promise_figures(promised), *_result_figures(released.pop("figures", ()))],
        "errors": [str(each) for each in released.pop("errors", ())],
        "outsider": [str(each) for each in released.pop("outsider", ())],
        "groups": to_plain(released.pop("groups", None)),
        "budgets": to_plain(released.pop("budgets", None)),
        "curve": to_plain(released.pop("curve", None)),
        "extra": to_plain(released.pop("extra", None)),
        "result": {
            "summary": released.pop("summary", ""),
            "facts": to_plain(released.pop("facts", ())),
            "tables": to_plain(released.pop("tables", ())),
            "values": to_plain(released),
        },
        "ledger": {name: _as_text(name, value) for name, value in account.items()}
        | {"bar": _bar(account)},
        "settings": to_plain(settings),
        "protected": _protected(result) if audience == "curator" else None,
        "files": [dict(each) for each in files],
        **made_with(),
    }


def made_with() -> dict[str, Any]:
    """Return when and with which version a page was made."""
    now = datetime.now(UTC)
    return {"made": f"{now.day} {now:%B %Y}", "versions": {"shoal": version("shoal")}}


def _protected(result: Result) -> dict[str, Any]:
    """Return what only the holder of the rows is shown."""
    values = {name: leaf.value for name, leaf in result.protected.items()}
    figures = [{"section": "protected", **f.to_dict()} for f in values.get("figures", ())]
    lists = {name: to_plain(values.get(name, ())) for name in ("facts", "tables", "lines")}
    return {"figures": figures, **lists}


def _public_value(name: str, leaf: object, kind: type[Leaf]) -> Any:
    """Return the value of a leaf that the public may see; refuse any other."""
    if (
        not isinstance(leaf, Leaf)
        or not isinstance(leaf, (kind, Public))
        or _holds_protected(leaf.value)
    ):
        raise NotPublishable(
            f"'{name}' is, or holds, a value that is not marked as {kind.__name__}.",
            "Keep it for the curator's page, or release it through a mechanism first.",
            reason="protected value",
        )
    return leaf.value


def _holds_protected(value: object) -> bool:
    if isinstance(value, Protected):
        return True
    if isinstance(value, Figure):
        return _holds_protected(value.data)
    if isinstance(value, Mapping):
        return any(_holds_protected(each) for each in value.values())
    if isinstance(value, list | tuple | set):
        return any(_holds_protected(each) for each in value)
    return False


def _check_publishable(guarantee: Guarantee, settings: Mapping[str, Any]) -> None:
    if isinstance(guarantee, Unprotected) and settings.get("source") not in ("synthetic", "public"):
        raise NotPublishable(
            "This result promises nothing, and its source is not declared synthetic or public.",
            "Use a private method; or, if the rows are no one's, set "
            + setting("source", "synthetic")
            + ".",
        )


def _limits(guarantee: Guarantee | None) -> dict[str, Any] | None:
    """Return what follows from epsilon alone; None for guarantees without one, or per distance."""
    if not isinstance(guarantee, PureDP | ApproxDP | LocalDP):
        return None
    delta = guarantee.delta if isinstance(guarantee, ApproxDP) else Fraction(0)
    beliefs = []
    for before in _BELIEFS:
        after = belief(Decimal(before) / 100, guarantee.epsilon)
        least, most = round_down(hundredths(after.least)), round_up(hundredths(after.most))
        beliefs.append({"before": before, "least": least, "most": _below_100(most)})
    gap = in_100(advantage(guarantee.epsilon, delta))
    return {"epsilon": decimal(guarantee.epsilon), "odds": odds(guarantee.epsilon)} | {
        "beliefs": beliefs,
        "advantage": gap,
        "but_for": one_in(delta) if delta else None,
    }


def _below_100(most: str) -> str:
    return "over 99.9" if Decimal(most) >= 100 else most


def _account(guarantee: Guarantee, ledger: Ledger | None) -> dict[str, Any]:
    """Return what the ledger says of this kind: spent earlier, here, in all; limit and rest."""
    here = guarantee.epsilon if isinstance(guarantee, Budget) else None
    names = ("total", "simulated", "limit", "left", "earlier")
    account: dict[str, Any] = dict.fromkeys(names)
    account["here"] = here
    if ledger is None or not isinstance(guarantee, Budget):
        return account
    totals = (each for each in ledger.totals() if isinstance(each, Budget))
    spent = [each for each in totals if each.kind == guarantee.kind]
    limit = next((each for each in ledger.limits if each.kind == guarantee.kind), None)
    # Real and simulated together, as the limit binds them.
    total = sum(spent[1:], start=spent[0]) if spent else guarantee
    account |= {"total": total, "earlier": total.epsilon - guarantee.epsilon}
    account["simulated"] = next((each for each in spent if each.simulation), None)
    if limit is not None:
        account |= {"limit": limit.epsilon, "left": limit.epsilon - total.epsilon}
    return account


def _bar(account: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of the budget bar, as text and in thousandths of the whole."""
    names = {"earlier": "spent earlier", "here": "spent here", "left": "left"}
    parts = {name: account[name] for name in names if account[name] and account[name] > 0}
    whole = sum(parts.values())
    return [
        {"part": name, "name": names[name], "amount": _as_text(name, amount)}
        | {"share": round(float(1000 * amount / whole))}
        for name, amount in parts.items()
    ]


def _label(
    promise: Promise, settings: Mapping[str, Any], account: Mapping[str, Any], simulation: bool
) -> list[dict[str, str]]:
    """Return eight fields in one order on every page; a missing one says so."""
    spent = NOT_STATED
    if account["total"] is not None:
        spent = amount(account["total"])
        spent += (
            f" of a limit of {decimal(account['limit'])}" if account["limit"] else ", no limit set"
        )
        if account["simulated"] is not None and not simulation:
            spent += f"; {amount(account['simulated'])} of it simulated"
    fields = {
        "Promise": f"{promise.name}; not kept: a simulation" if simulation else promise.name,
        "Protected": promise.protects,
        "Compared with": promise.compared,
        "Who saw the rows": settings.get("holder", NOT_STATED),
        "Bounds": settings.get("bounds", NOT_STATED),
        "Noise": settings.get("noise", NOT_STATED),
        "All releases so far": settings.get("releases", spent),
        "Evidence": settings.get("evidence", NOT_STATED),
    }
    return [{"name": name, "value": str(value)} for name, value in fields.items()]


def _lead_parts(promise: Promise) -> list[dict[str, str]]:
    """Split the lead sentence at its two chances, so that they can be coloured."""
    if promise.before is None or promise.after is None:
        return [{"text": promise.lead, "role": ""}]
    # The sentence says "over 99" without "at most".
    least = "" if promise.after.startswith("over") else "at most "
    rest, parts = promise.lead, []
    for role, chance in (("before", promise.before), ("after", least + promise.after)):
        text, chance_text, rest = rest.partition(f"{chance} in 100")
        parts += [{"text": text, "role": ""}, {"text": chance_text, "role": role}]
    return [*parts, {"text": rest, "role": ""}]


def _promise_figures(promise: Promise) -> list[dict[str, Any]]:
    if promise.before is None or promise.after is None:
        return []
    before, after = int(promise.before), int(promise.after.removeprefix("over "))
    pair = [(dots(before), "believed before"), (dots(before, after), "at most, after")]
    heads = [f"{promise.before} in 100", f"{promise.after} in 100"]
    return [
        {"section": "promise", "head": head, "caption": caption, **figure.to_dict()}
        for head, (figure, caption) in zip(heads, pair, strict=True)
    ]


def _result_figures(figures: Sequence[Figure]) -> list[dict[str, Any]]:
    return [{"section": "result", **figure.to_dict()} for figure in figures]


def _as_text(name: str, value: object) -> object:
    """Write exact amounts as decimals; return other values as they are."""
    if isinstance(value, Budget):
        return decimal(value.epsilon)
    if isinstance(value, Fraction):
        return remaining(value) if name == "left" or value <= 0 else decimal(value)
    return value
