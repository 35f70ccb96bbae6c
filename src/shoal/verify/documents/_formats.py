"""The formats in which a release is documented: which files each has, and where it does not fit."""

from shoal.documents import json_text
from shoal.verify.documents._assessment import assessment
from shoal.verify.documents._croissant import croissant
from shoal.verify.documents._deployment import deployment
from shoal.verify.documents._facts import Facts
from shoal.verify.documents._tables import domain_metadata, table_metadata

KINDS = "deployment", "nist", "csvw", "croissant"


def obstacle(kind: str, facts: Facts) -> str | None:
    """Return why a release has no document of a kind, in a sentence; None if it has one."""
    if facts.release.kind == "reproduction":
        return "A document run again is about made-up and public tables: nothing was promised."
    if kind == "deployment":
        if not facts.is_private:
            return "The registry is of differential privacy, which this release does not promise."
        if facts.is_simulation:
            return "A simulation protects nobody: there is nothing to register."
    if kind == "csvw" and not table_metadata(facts) and domain_metadata(facts) is None:
        return "It has no CSV file and states no bounds of columns."
    return None


def draw(kind: str, facts: Facts, prefix: str) -> dict[str, str]:
    """Return the files of a document, by their names.

    Parameters
    ----------
    prefix
        What their names begin with, where several releases share a folder.
    """
    if kind == "deployment":
        return {f"{prefix}deployment.json": json_text(deployment(facts))}
    if kind == "nist":
        return {f"{prefix}nist.html": assessment(facts)}
    if kind == "croissant":
        return {f"{prefix}croissant.json": json_text(croissant(facts))}
    domain = domain_metadata(facts)
    described = table_metadata(facts)
    if domain is not None:
        described[f"{prefix}domain.csvw.json"] = domain
    return {name: json_text(content) for name, content in described.items()}
