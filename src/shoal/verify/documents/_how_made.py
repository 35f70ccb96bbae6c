"""What follows from a release about how it was made, in sentences that several documents share."""

from shoal.privacy import ApproxDP, LocalDP, MetricDP, PureDP
from shoal.verify.documents._facts import Facts

REPORTED_SETTINGS = "random_state", "ledger", "domain", "class"
EXACT_NOISE = (
    "Noise is drawn in whole numbers from a cipher that the operating system keys, so that the "
    "rounding of floating-point numbers tells nothing."
)
RUNNING_TIME = "Running time and memory are outside the promise."


def unit(facts: Facts) -> str:
    """Return what is protected, at a high level."""
    if facts.is_local:
        return "Report-level" if not facts.protects_people else "Person-level"
    return "Person-level" if facts.protects_people else "Row-level"


def unit_details(facts: Facts) -> str:
    """Return what two neighbouring tables are."""
    guarantee = facts.guarantee
    if isinstance(guarantee, PureDP | ApproxDP):
        rows = (
            "one row" if guarantee.rows == 1 else f"one person with at most {guarantee.rows} rows"
        )
        how = "replaced" if guarantee.neighbours == "replace-one" else "added or removed"
        return f"Tables are neighbours if they differ by {rows} {how}."
    if isinstance(guarantee, LocalDP):
        about = facts.release.document.get("protects", "a person")
        return f"Any two values that {about} could have are neighbours; one report is made of each."
    if isinstance(guarantee, MetricDP):
        return (
            f"Any two values are compared by their {guarantee.metric} distance, in units of "
            f"{guarantee.unit}: the nearer, the harder they are to distinguish."
        )
    return "The release states no differential privacy."


def bounds(facts: Facts) -> str:
    """Return what is assumed in public about the columns."""
    domain = facts.domain
    if domain is None:
        return "The release does not say which bounds it assumes."
    each = [f"{name} from {low:g} to {high:g}" for name, (low, high) in domain.bounds.items()]
    each += [
        f"{name} one of {len(known.values)} values" for name, known in domain.categories.items()
    ]
    origin = (
        "estimated from the rows with noise from a seed, so not public"
        if domain.simulation
        else "public, fixed beforehand"
    )
    return f"Tables with these columns: {', '.join(each)} (bounds and lists {origin})."


def public_numbers(facts: Facts) -> str:
    """Return which numbers the release takes as public, and what the publisher adds."""
    n_public = facts.settings.get("n_public")
    own = (
        "None in this release, which carries noise in every number that depends on the rows."
        if n_public is None
        else f"The number of rows, {n_public}, was given as public."
    )
    if facts.is_local:
        own = "The number of reports is shown as it is."
    elif n_public is None and getattr(facts.guarantee, "neighbours", "") == "replace-one":
        own = (
            "Neighbouring tables have equally many rows, so that their number may be shown as it "
            "is; every other number that depends on the rows carries noise."
        )
    return f"{own} Other publications from the rows: {facts.sentence('unprotected')}"


def settings_text(facts: Facts) -> str:
    """Return the settings of the fit that differ from nothing, in one line."""
    shown = {
        name: value
        for name, value in facts.settings.items()
        if name not in REPORTED_SETTINGS and value is not None and value is not False
    }
    listed = ", ".join(f"{name} = {value}" for name, value in shown.items())
    return f"Settings: {listed}." if listed else "The release lists no settings."


def preparation(facts: Facts) -> str:
    """Return what becomes of rows before noise is drawn, and how settings were chosen."""
    stated = facts.sentence("preparation")
    if not facts.is_private:
        return f"Values are grouped as the policy of the release says. Beyond that: {stated}"
    moved = facts.moved or "Rows outside the public bounds are moved to them."
    return (
        f"{moved} {settings_text(facts)} Preparation of the rows and choice of the settings: "
        f"{stated}"
    )


def mechanisms(facts: Facts) -> str:
    """Return what drew the noise, and with what."""
    release = facts.release
    made_by = release.method or "The mechanism of each report"
    whose = f"shoal {release.version}" if release.version else "shoal, of a version not stated"
    evidence = facts.page_settings.get("evidence", "proofs lie beside the code")
    return f"{made_by} of {whose}. {EXACT_NOISE} {RUNNING_TIME} Evidence: {evidence}."


def audits(facts: Facts) -> str:
    """Return what audits of the method found, as they come with this version."""
    method = facts.release.method
    if not facts.audits:
        return f"No audit of {method or 'it'} comes with this version of shoal."
    wrong = [name for name, verdict in facts.audits if verdict != "consistent"]
    if wrong:
        return f"Audits found the claim violated: {', '.join(wrong)}."
    return f"{len(facts.audits)} audits of {method} found nothing against its claim."


def trust(facts: Facts) -> str:
    """Return whom people must trust."""
    if facts.is_local:
        return (
            "Each report is randomised by itself. A table was turned into reports at once, so "
            "whoever ran that saw the rows as they are: only where people run it themselves need "
            "they trust nobody."
        )
    holder = facts.page_settings.get("holder", "the holder of the table, and nobody else")
    return f"The rows were seen by {holder}, who must be trusted with them."


def composition(facts: Facts) -> str:
    """Return how the parts of the budget add up, within the release and beyond it."""
    if facts.is_local:
        return (
            f"One report is made of each record, and its budget is the whole. {facts.ledger_text}"
        )
    return (
        "Every noisy number passes one gate, which adds the shares of the budget up exactly; "
        f"together they are the promise. {facts.ledger_text}"
    )


def later_steps(facts: Facts) -> str:
    """Return what was computed of the noisy numbers alone."""
    kind = facts.release.kind
    if kind in ("groups", "page"):
        return (
            "Centres, sizes, intervals, names and pictures of groups are computed from noisy "
            "counts and sums alone."
        )
    if kind == "synopsis":
        how = facts.settings.get("negative")
        treated = f" (negative counts: {how})" if how else ""
        return (
            f"Counts are made consistent with one another{treated}; nothing else is done to them."
        )
    remap = facts.release.document.get("remap")
    return f"Reports were moved to likely values ({remap})." if remap else "None in these files."
