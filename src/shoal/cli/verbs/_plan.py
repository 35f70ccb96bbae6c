"""``shoal plan``: what error to expect at which budget, before anything is spent."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from shoal.cli._flags import Flags
from shoal.cli._options import PLAN, Json, Quiet, takes
from shoal.cli._output import Output, check_page, show_verdicts
from shoal.errors import ConflictingSettings, InvalidSetting, sentence
from shoal.jobs import Progress, box_of, parse_groups, schema_of, split_commas

if TYPE_CHECKING:
    from shoal.planning import Plan


_FLAGS = Flags({"epsilons": "--epsilon"})
_OF_SEVERAL = (0.1, 0.5, 1.0, 2.0)  # budgets that are tried for each number of groups


@takes(options=PLAN)
def plan(
    model: Path | None = None,
    groups: str | None = None,
    domain: Path | None = None,
    columns: str | None = None,
    n_expected: int | None = None,
    epsilon: str | None = None,
    within: float = 5.0,
    shape: Literal["clear", "near", "touching"] | None = None,
    trust: Literal["central", "local", "both"] = "both",
    details: bool = False,
    output: Path | None = None,
    overwrite: bool = False,
    seed: int = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Predict the error of centres at several budgets, before anything is spent.

    No table is opened. From columns and bounds of the domain, the expected number of rows and the
    number of groups, tables are made up and clustered at each budget: by a curator
    (`shoal cluster`) and from reports (`shoal perturb --mechanism auto`, then `shoal learn`). The
    result is a typical error and a bad case; heavy tails and groups far from all others can do
    worse. It takes seconds for a curator, up to minutes for reports; of several numbers of groups
    (`-k 2-8`) a curator's alone are planned, unless reports are asked for. With a MODEL, rows are
    drawn about what it released instead.

    **Examples**

        shoal plan -k 5 --domain visits.yaml --n-expected 20000
        shoal plan -k 5 --domain visits.yaml --n-expected 20000 --within 2 --shape near -o plan.html
        shoal plan -k 5 --domain visits.yaml --n-expected 20000 --trust local --epsilon 1,2,4
        shoal plan -k 2-8 --domain visits.yaml --n-expected 20000 --epsilon 0.5,1
        shoal plan model --epsilon 0.5,1,2     # from what was released
    """
    from shoal.pages.plan import by_groups, page

    check_page(output, overwrite, "plan.html")
    say, budgets = Output(json, quiet), _budgets(epsilon)
    facts = {"-k": groups, "--domain": domain, "--n-expected": n_expected, "--shape": shape}
    settings: dict[str, object] = {
        "within": within / 100,
        "trust": trust,
        "random_state": seed,
        "epsilons": budgets,
    }
    with say.progress(1) as progress, _FLAGS.shown():
        counts = parse_groups(groups)
        progress.step("Fitting made-up tables")
        if model is not None:
            _refuse_facts({**facts, "--columns": columns})
            shown = page(_what_if(model, settings, progress), details=details)
        elif counts is None or len(counts) == 1:
            k = None if counts is None else counts[0]
            found = _from_facts(k, domain, columns, n_expected, shape, settings, progress)
            shown = page(found, domain=str(domain), details=details)
        else:
            settings["epsilons"] = budgets or list(_OF_SEVERAL)
            settings["trust"] = "central" if trust == "both" else trust
            shown = by_groups(
                [
                    _from_facts(k, domain, columns, n_expected, shape, settings, progress)
                    for k in counts
                ]
            )
    show_verdicts(shown, say, output, overwrite=overwrite, private=False)


def _from_facts(
    groups: int | None,
    domain: Path | None,
    columns: str | None,
    n_expected: int | None,
    shape: str | None,
    settings: dict[str, object],
    progress: Progress,
) -> "Plan":
    from shoal.domain import Schema
    from shoal.planning import plan

    if groups is None:
        raise InvalidSetting(
            sentence("{n_clusters} is missing."), sentence("E.g. {n_clusters:5}: how many groups.")
        )
    if n_expected is None:
        raise InvalidSetting(
            sentence("{n_expected} is missing."), sentence("E.g. {n_expected:20000}.")
        )
    schema = schema_of(domain)
    public = Schema.of_box(
        box_of(schema, columns, domain),
        person=schema.person,
        max_rows_per_person=schema.max_rows_per_person,
    )
    return plan(
        groups,
        domain=public,
        n_expected=n_expected,
        groups=shape,
        progress=progress.part,
        **settings,  # type: ignore[arg-type]
    )


def _what_if(model: Path, settings: dict[str, object], progress: Progress) -> "Plan":
    from shoal.cluster import load_model
    from shoal.planning import what_if

    return what_if(load_model(model), progress=progress.part, **settings)  # type: ignore[arg-type]


def _refuse_facts(facts: dict[str, object]) -> None:
    given = [flag for flag, value in facts.items() if value is not None]
    if given:
        raise ConflictingSettings(
            f"A model brings its own facts; {', '.join(given)} cannot be set besides.",
            "Leave them out, or leave out the model.",
        )


def _budgets(epsilon: str | None) -> list[float] | None:
    """The budgets of a list with commas."""
    if epsilon is None:
        return None
    with suppress(ValueError):
        return [float(text) for text in split_commas(epsilon)]
    raise InvalidSetting(
        sentence("{epsilon} must be numbers with commas between them."),
        sentence("E.g. {epsilon:0.5,1,2}."),
    )
