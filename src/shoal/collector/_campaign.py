"""A signed campaign: its document, the mechanism of its questions, the keys that sign it.

What clients read is a signed document in which grid and oracle are chosen already, so that no
client chooses anything. ``campaign_draft`` makes it of an author's file.
"""

import base64
import math
import os
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal.collector import client
from shoal.documents import parse_json
from shoal.domain import Box
from shoal.errors import AlreadyExists, InvalidSetting, NotInstalled
from shoal.mechanisms import LocalGrid, NDLaplace, RandomizedResponse
from shoal.mechanisms.local import people_needed
from shoal.mechanisms.local.categories import LocalHash, ResidualSign
from shoal.privacy import Guarantee, LocalDP

Document = dict[str, Any]
TEXTS = ("name", "purpose", "operator", "contact")
_ALLOWS_ALL = client.Limits("20", "20", "two_aggregators", nearby=True)
_MAP_NAMES = ({"lat", "latitude"}, {"lon", "lng", "long", "longitude"})
_DELTA = re.compile(r"0\.0{2,11}[1-9][0-9]*", re.ASCII)


def check_document(document: Document) -> Document:
    """Return a campaign document unchanged, if it is clear and a client would take it.

    A client refuses what could cost its person something. What only its author needs right, such as
    the length of texts and whole numbers of people, is refused here.
    """
    try:
        client.canonical(document)
        client.check_campaign(document, _ALLOWS_ALL, str(document.get("opens")))
        _check_author_fields(document)
    except (client.Refused, TypeError, KeyError, AttributeError) as error:
        raise InvalidSetting(
            f"No client would take part: {error}", "Correct the campaign's file and sign it again."
        ) from None
    return document


def _check_author_fields(document: Document) -> None:
    for name in TEXTS:
        good = isinstance(document[name], str) and len(document[name]) <= 200
        client.need(good, f"The campaign's {name} has more than 200 characters.")
    for name in ("n_expected", "n_clusters", "epoch_seconds", "n_least"):
        number = document.get(name, 1)
        good = type(number) is int and 1 <= number < 2**53
        client.need(good, f"The campaign's {name} is no whole number of at least 1.")
    delta = document.get("delta", "0.001")
    good = isinstance(delta, str) and _DELTA.fullmatch(delta) is not None
    client.need(good, "The campaign's delta is no decimal of at most 0.00999.")
    known = document["enrolment"] in ("token", "open")
    client.need(known, "The campaign's enrolment is neither token nor open.")


def check_people_are_counted(document: Document) -> None:
    """Refuse a shuffled campaign that is open: one person may be many, and fakes hide nobody."""
    if document["enrolment"] == "open":
        raise InvalidSetting(
            "A shuffled campaign promises something only among n_least people, and whoever reports "
            "to an open one may be one person many times.",
            "Write enrolment: token, or setting: local.",
            setting="enrolment",
        )


def people_for_groups(document: Document) -> int | None:
    """Return how many people groups within a tenth of the best take, for reports on columns."""
    if "columns" not in document or document["setting"] == "two_aggregators":
        return None
    if len(document["rounds"]) > 1 or is_on_lattice(document):
        return None  # the estimate is for one report of a grid
    return people_needed(
        1.1,
        n_clusters=document["n_clusters"],
        d=len(document["columns"]),
        epsilon=float(document["epsilon"]),
    )


def box_of(document: Document) -> Box:
    """Return the public bounds of a campaign on numbers.

    Parameters
    ----------
    document
        The campaign.
    """
    columns = document["columns"]
    bounds = {c["name"]: (float(c["low"]), float(c["high"])) for c in columns}
    return Box.geo(**bounds) if is_map(document) else Box(**bounds)


def is_on_lattice(document: Document) -> bool:
    """Return whether reports are places on a lattice, near ones of which are hidden."""
    return bool(document["rounds"][0]["question"]["mechanism"] == "nd_laplace")


def is_map(document: Document) -> bool:
    """Return whether a campaign on a lattice asks for latitude and longitude."""
    names = [column["name"].lower() for column in document["columns"]]
    fits = len(names) == 2 and all(n in known for n, known in zip(names, _MAP_NAMES, strict=True))
    return fits and "rounds" in document and is_on_lattice(document)


def lattice_mechanism(question: Document, names: list[str]) -> NDLaplace:
    """Return the mechanism whose reports the answers to a question on a lattice are."""
    columns = [
        {"name": name, "low": low, "high": high}
        for name, (low, high) in zip(names, question["columns"], strict=True)
    ]
    box = box_of({"columns": columns, "rounds": [{"question": question}]})
    units = tuple(float(unit) for unit in question["units"])
    mechanism = NDLaplace(
        Fraction(question["epsilon"]) / Fraction(question["radius"]),
        domain=box,
        scale=None if box.distance_unit == "km" else units,
        lattice=2.0 ** -question["step_bits"],
        clip=True,
    )
    # The learner must measure distances as people's devices did.
    if tuple(mechanism.space.units(box.d).tolist()) != units:
        raise InvalidSetting(
            "The campaign's units are not those that this version of shoal learns with.",
            "Learn with the version that signed the campaign.",
        )
    return mechanism


def question_of(mechanism: LocalGrid | ResidualSign, epsilon: str) -> Document:
    """Return the question that asks for reports of a mechanism."""
    box = mechanism.domain
    question: Document = {
        "epsilon": epsilon,
        "columns": [
            [repr(float(low)), repr(float(high))]
            for low, high in zip(box.low, box.high, strict=True)
        ],
        "oracle": oracle_fields(mechanism.oracle),
    }
    if isinstance(mechanism, LocalGrid):
        return question | {"mechanism": "local_grid", "cells": list(mechanism.grid.shape)}
    centers = [[repr(float(c)) for c in center] for center in mechanism.centers]
    return question | {
        "mechanism": "residual_sign",
        "centers": centers,
        "reach": repr(float(mechanism.reach)),
    }


def mechanism_of(question: Document, names: list[str]) -> Any:
    """Return the mechanism whose reports the answers to a question are."""
    if question["mechanism"] == "nd_laplace":
        return lattice_mechanism(question, names)
    epsilon, oracle = float(question["epsilon"]), question["oracle"]
    if question["mechanism"] == "category":
        kind = RandomizedResponse if oracle["name"] == "randomized_response" else LocalHash
        mechanism: Any = kind(epsilon, oracle["size"])
        chosen = mechanism
    else:
        bounds = zip(names, question["columns"], strict=True)
        box = Box(**{name: (float(low), float(high)) for name, (low, high) in bounds})
        if question["mechanism"] == "local_grid":
            mechanism = LocalGrid(box, epsilon=epsilon, cells=question["cells"])
        else:
            centers = tuple(tuple(map(float, center)) for center in question["centers"])
            mechanism = ResidualSign(box, centers, float(question["reach"]), epsilon=epsilon)
        chosen = mechanism.oracle
    # The learner must invert the very oracle that people used, not one chosen anew.
    if oracle_fields(chosen) != oracle:
        raise InvalidSetting(
            "The campaign's oracle is not the one that this version of shoal learns from.",
            "Learn with the version that signed the campaign.",
        )
    return mechanism


def oracle_fields(oracle: Any) -> Document:
    """Return how a question names an oracle.

    Parameters
    ----------
    oracle
        ``RandomizedResponse`` or ``LocalHash``.
    """
    if isinstance(oracle, LocalHash):
        digits = {"buckets": oracle.buckets, "digits": oracle.digits}
        return {"name": "local_hash", "size": oracle.size, **digits}
    return {"name": "randomized_response", "size": oracle.size}


# ---- signing


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise NotInstalled(
            "Signing needs the package cryptography.", "pip install 'shoal[collector]'"
        ) from None
    return ed25519


def make_key(path: str | Path) -> bytes:
    """Write a new private key for signing, readable by its owner alone; return the public key.

    Parameters
    ----------
    path
        Where it is written; refused if something is there.
    """
    private = _ed25519().Ed25519PrivateKey.generate()
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        raise AlreadyExists(
            f"{path} exists already.", "Keys are not written over: name another file."
        ) from None
    with open(handle, "w", encoding="ascii") as file:
        file.write(base64.b64encode(private.private_bytes_raw()).decode() + "\n")
    return bytes(private.public_key().public_bytes_raw())


def read_key(path: str | Path) -> Any:
    """Read a private key that ``make_key`` wrote.

    Parameters
    ----------
    path
        Its file.
    """
    try:
        if not Path(path).is_file():  # to open a pipe that nobody writes to would take for ever
            raise FileNotFoundError
        secret = base64.b64decode(Path(path).read_text(encoding="ascii").strip(), validate=True)
        return _ed25519().Ed25519PrivateKey.from_private_bytes(secret)
    except (OSError, ValueError):
        raise InvalidSetting(
            f"{path} is no private key.", "Make one with `shoal collect key operator.key`."
        ) from None


def sign_document(kind: str, document: Document, private: Any) -> Document:
    """Return the signed envelope of a document.

    Parameters
    ----------
    kind
        ``campaign``, ``round``, ``model`` or ``close``.
    document
        What is signed.
    private
        The key that ``read_key`` returned.
    """
    payload = client.canonical(document)
    parts = {
        "payload": payload,
        "signature": private.sign(b"shoal.%s.1\n" % kind.encode() + payload),
        "key": private.public_key().public_bytes_raw(),
    }
    return {name: base64.b64encode(part).decode() for name, part in parts.items()}


@dataclass(frozen=True)
class Campaign:
    """A signed campaign, as a server and a learner hold it.

    Parameters
    ----------
    envelope
        The signed document.
    document
        Its content.
    id
        Its 16 bytes of name.
    """

    envelope: Document
    document: Document
    id: bytes

    @classmethod
    def load(cls, path: str | Path) -> "Campaign":
        """Read a signed campaign; its signature is checked against the key it names.

        Parameters
        ----------
        path
            The file that ``shoal collect sign`` wrote.
        """
        try:
            envelope = parse_json(Path(path).read_text(encoding="utf-8"))
            key = base64.b64decode(envelope["key"], validate=True)
            document, name = client.open_envelope(envelope, "campaign", key)
        except (OSError, ValueError, KeyError, TypeError, client.Refused):
            raise InvalidSetting(
                f"{path} is no signed campaign.",
                "Sign one with `shoal collect sign campaign.yaml --key operator.key`.",
            ) from None
        return cls(envelope, check_document(document), name)

    @property
    def key(self) -> bytes:
        """The operator's public key."""
        return base64.b64decode(self.envelope["key"])

    @property
    def names(self) -> list[str]:
        """The columns of a campaign on numbers."""
        return [column["name"] for column in self.document.get("columns", ())]

    @cached_property
    def shares(self) -> list[int]:
        """Of each round, in parts of 2^32."""
        return [one["share"] for one in self.document["rounds"]]

    @property
    def aggregators(self) -> list[dict[str, str]]:
        """Address and key of each of two aggregators; none in other settings."""
        return list(self.document.get("aggregators", ()))

    @property
    def guarantee(self) -> Guarantee | None:
        """What one report promises; None with two aggregators, whose sums promise otherwise."""
        if self.document["setting"] == "two_aggregators":
            return None
        if is_on_lattice(self.document):  # of near values alone
            question = self.document["rounds"][0]["question"]
            return lattice_mechanism(question, self.names).guarantee
        return LocalDP(self.document["epsilon"])

    @property
    def lattice_columns(self) -> int:
        """How many numbers a report has if it is on a lattice; 0 for codes."""
        return len(self.names) if is_on_lattice(self.document) else 0

    @property
    def has_tokens(self) -> bool:
        """Whether only enrolled people may report."""
        return bool(self.document["enrolment"] == "token")


def is_possible(report: int | bytes, question: Document) -> bool:
    """Return whether a question could have this report for an answer."""
    if question["mechanism"] != "nd_laplace":
        return isinstance(report, int) and report < number_of_reports(question)
    if isinstance(report, int):
        return False
    places = (
        int.from_bytes(report[i : i + 8], "big", signed=True) for i in range(0, len(report), 8)
    )
    return all(abs(place) <= client.FARTHEST for place in places)


def number_of_reports(question: Document) -> int:
    """Return how many different reports a question has; a larger one is impossible."""
    columns = len(question["columns"]) if question["mechanism"] == "residual_sign" else 1
    return math.prod((columns, client.codes_of(question)))
