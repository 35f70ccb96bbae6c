"""A release as a record of the differential-privacy deployment registry has it.

Field names are those of the records in the registry's public data (github.com/opendp/
deployments-registry-data) as of September 2026. Its schema of that time could not be had; an
earlier one has the same parts under other names. The record says so itself.
"""

import re
from typing import Any

from shoal.pages.verification import NOT_STATED
from shoal.privacy import ApproxDP, LocalDP, MetricDP, PureDP
from shoal.verify.documents import _how_made as made
from shoal.verify.documents._facts import Facts

_PRODUCTS = {
    "groups": "Machine learning model",
    "page": "Summary statistics",
    "synopsis": "Summary statistics",
    "reports": "Dataset",
}
_NOTE = (
    "Written by shoal from the files of the release; '" + NOT_STATED + "' is for its publisher to "
    "fill in. Field names follow the registry's records of September 2026: its schema of that "
    "time could not be compared."
)


def deployment(facts: Facts) -> dict[str, Any]:
    """Return the record of a release."""
    parts: dict[str, Any] = {
        "basic": _basic(facts),
        "dp_variant": _variant(facts),
        "privacy_loss": _loss(facts),
        "deployment_model": _model(facts),
        "accounting": {
            "post_processing": made.later_steps(facts),
            "composition": made.composition(facts),
        },
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": made.preparation(facts),
            "mechanisms": f"{made.mechanisms(facts)} {made.audits(facts)}",
            "justification": facts.stated("justification"),
        },
    }
    administrative = {
        "notes": _NOTE,
        "status": "Draft",
        "registry_authors": [facts.stated("authors")],
        "tier": _tier(parts),
    }
    slug = re.sub(r"[^a-z0-9]+", "-", f"{facts.name} {facts.publisher}".lower()).strip("-")
    return {"url_slug": slug, "deployment": parts | {"administrative": administrative}}


def _basic(facts: Facts) -> dict[str, Any]:
    curator = {
        "data_curator_name": facts.publisher,
        "data_curator_type": facts.stated("publisher_type"),
    }
    return {
        "name": facts.name,
        "data_curators": [curator],
        "description": facts.description,
        "intended_use": facts.stated("purpose"),
        "data_product_type": _PRODUCTS[facts.release.kind],
        "data_product_region": facts.stated("region"),
        "data_product_sector": facts.stated("sector"),
        "publication_date": facts.stated("published"),
    }


def _variant(facts: Facts) -> dict[str, Any]:
    variant: dict[str, Any] = {"variant_name": _variant_name(facts)}
    guarantee = facts.guarantee
    if isinstance(guarantee, MetricDP):
        variant |= {
            "input_metric": f"{guarantee.metric} distance, in units of {guarantee.unit}",
            "bound_on_input_distance": "none: the bound on outputs grows with the distance",
            "output_measure": "largest logarithm of the ratio of two chances (max divergence)",
            "bound_on_output_distance": f"{guarantee.epsilon} times the distance"
            + (f", and {float(guarantee.slack):.3g}" if guarantee.slack else ""),
        }
    domain = f"{made.bounds(facts)} The rows: {facts.sentence('rows')}"
    return variant | {"data_domain": domain, "unprotected_quantities": made.public_numbers(facts)}


def _variant_name(facts: Facts) -> str:
    guarantee = facts.guarantee
    if isinstance(guarantee, ApproxDP) and guarantee.delta:
        return "Approximate DP"
    return "Pure DP" if isinstance(guarantee, PureDP | ApproxDP | LocalDP) else "Custom"


def _loss(facts: Facts) -> dict[str, Any]:
    guarantee: Any = facts.guarantee
    amounts = {"epsilon": float(guarantee.epsilon)}
    if isinstance(guarantee, ApproxDP):
        amounts["delta"] = float(guarantee.delta)
    return {
        "privacy_unit": made.unit(facts),
        "privacy_unit_details": made.unit_details(facts),
        "privacy_parameters": amounts,
        "privacy_parameters_details": f"{facts.promise_name}. {facts.lead}",
    }


def _model(facts: Facts) -> dict[str, Any]:
    return {
        "model_name": "Local" if facts.is_local else "Central",
        "model_name_details": made.trust(facts),
        "actors": facts.stated("actors"),
        "release_type": "One release",
        "release_type_details": f"{facts.ledger_text} Plans: {facts.sentence('maintenance')}",
        "data_source_type": "Static",
        "access_type": "Non-interactive",
        "access_type_details": "The release is a folder of files; nobody asks the rows anything.",
    }


def _tier(parts: dict[str, Any]) -> int:
    """Return how complete a record is: 1 the basics, 2 the promise, 3 all of it."""
    if NOT_STATED in str(parts["basic"]):
        return 1
    return 2 if NOT_STATED in str(parts) else 3
