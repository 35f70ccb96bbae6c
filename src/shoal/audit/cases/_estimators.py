"""The cases of the private estimators by name."""

from shoal.audit.case import Case, Cases


def _made() -> dict[str, Case]:
    from shoal.audit.cases._estimator_cases import (
        make_cases,  # every estimator: made when first looked at
    )

    return make_cases()


estimators = Cases(_made)
"""The cases of every private estimator by name, made when they are first looked at."""
