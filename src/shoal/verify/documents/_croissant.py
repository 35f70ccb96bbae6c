"""A release as Croissant has it: what machine-learning tools read of a data set.

Croissant 1.0 with the fields of its responsible-AI vocabulary 1.0; tests hold what is written to
the format's own reader.
"""

from typing import Any

from shoal.synopsis.folder import digest_of
from shoal.verify.documents import _how_made as made
from shoal.verify.documents._facts import Facts
from shoal.verify.documents._tables import released_tables

_FORMATS = {
    ".csv": "text/csv",
    ".gz": "application/gzip",
    ".parquet": "application/x-parquet",
    ".json": "application/json",
    ".html": "text/html",
}
_TYPES = {
    "double": "sc:Float",
    "integer": "sc:Integer",
    "boolean": "sc:Boolean",
    "string": "sc:Text",
}
_OWN_TERMS = [
    "citeAs",
    "column",
    "conformsTo",
    "equivalentProperty",
    "extract",
    "field",
    "fileProperty",
    "fileObject",
    "fileSet",
    "format",
    "includes",
    "isLiveDataset",
    "jsonPath",
    "key",
    "md5",
    "parentField",
    "path",
    "recordSet",
    "references",
    "regex",
    "repeated",
    "replace",
    "samplingRate",
    "separator",
    "source",
    "subField",
    "transform",
]
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    **{name: f"cr:{name}" for name in _OWN_TERMS},
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
}


def croissant(facts: Facts) -> dict[str, Any]:
    """Return the Croissant description of a release."""
    about = {name: facts.about[name] for name in ("url",) if name in facts.about}
    if "published" in facts.about:
        about["datePublished"] = facts.about["published"]
    who = {"@type": "Organization", "name": facts.publisher}
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": facts.name,
        "description": f"{facts.description} {facts.lead}".strip(),
        "conformsTo": [
            "http://mlcommons.org/croissant/1.0",
            "http://mlcommons.org/croissant/RAI/1.0",
        ],
        "license": facts.stated("license"),
        "creator": who,
        "publisher": who,
        **about,
        "distribution": [_file(facts, name) for name in facts.release.files],
        "recordSet": [_records(name, types) for name, types in released_tables(facts)],
        **_responsible(facts),
    }


def _file(facts: Facts, name: str) -> dict[str, Any]:
    path = facts.folder / name
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "encodingFormat": _FORMATS.get(path.suffix, "application/octet-stream"),
        "sha256": digest_of(path),
    }


def _records(name: str, types: dict[str, str]) -> dict[str, Any]:
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{name}/records/{column}",
            "name": column,
            "dataType": _TYPES[kind],
            "source": {"fileObject": {"@id": name}, "extract": {"column": column}},
        }
        for column, kind in types.items()
    ]
    return {
        "@type": "cr:RecordSet",
        "@id": f"{name}/records",
        "name": f"{name}/records",
        "field": fields,
    }


def _responsible(facts: Facts) -> dict[str, Any]:
    """Return the fields on responsible use; of people's labels there are none to describe."""
    promised = f"{facts.promise_name}. {facts.lead}"
    changed = made.mechanisms(facts) if facts.is_private else "Values are grouped, not noisy."
    return {
        "rai:dataCollection": facts.stated("collection"),
        "rai:dataCollectionRawData": facts.stated("rows"),
        "rai:dataPreprocessingProtocol": made.preparation(facts),
        "rai:dataManipulationProtocol": changed,
        "rai:dataUseCases": facts.stated("purpose"),
        "rai:dataLimitations": facts.limits or ["The release says nothing of its errors."],
        "rai:dataBiases": facts.stated("biases"),
        "rai:dataSocialImpact": facts.stated("impact"),
        "rai:personalSensitiveInformation": f"The rows are about people. {promised}",
        "rai:dataReleaseMaintenancePlan": facts.stated("maintenance"),
    }
