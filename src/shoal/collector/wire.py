"""Read batches of reports as they come over the wire; whatever is malformed is refused whole."""

import base64
import hashlib
import re
from typing import Any, NamedTuple

from shoal.documents import parse_json

__all__ = ["BINARY", "JSON", "Batch", "WireError", "parse_batch", "who_of"]

BINARY = "application/vnd.shoal.reports"
JSON = "application/json"
MOST_BYTES = 2**20
MOST_REPORTS = 10_000
_MOST_IN_JSON = 1_000
_HEAD = 24
_LINE = 20
_KEY = re.compile(r"[A-Za-z0-9+/]{22}==", re.ASCII)


class WireError(Exception):
    """A request that is refused: its status, and a reason that quotes nothing of it.

    Parameters
    ----------
    status
        The HTTP status.
    reason
        For the sender.
    retry_after
        Seconds after which it may be sent again.
    """

    def __init__(self, status: int, reason: str, retry_after: int | None = None) -> None:
        super().__init__(reason)
        self.status, self.reason, self.retry_after = status, reason, retry_after


class Batch(NamedTuple):
    """Reports of one round.

    Parameters
    ----------
    round
        The round.
    keys
        The idempotency key of each person.
    reports
        The report of each.
    """

    round: int
    keys: list[bytes]
    reports: list[int]


def who_of(key: bytes) -> bytes:
    """Return what the server keeps of a key: a hash, so that a lookup leaks no prefix of it.

    Parameters
    ----------
    key
        The idempotency key.
    """
    return hashlib.sha256(b"shoal.who.1\n" + key).digest()[:16]


def parse_batch(body: bytes, kind: str, campaign: bytes) -> Batch:
    """Return the batch in a request's body.

    Parameters
    ----------
    body
        The body.
    kind
        Its content type.
    campaign
        The id of the campaign it must be for.

    Raises
    ------
    WireError
        400 if it is malformed, 404 if it is for another campaign, 415 for another content type.
    """
    kind = kind.partition(";")[0].strip().lower()
    if kind == BINARY:
        batch = _parse_binary(body, campaign)
    elif kind == JSON:
        batch = _parse_json(body, campaign)
    else:
        raise WireError(415, f"Reports are sent as {BINARY} or {JSON}.")
    if len(set(batch.keys)) != len(batch.keys):
        raise WireError(400, "One key is in the batch twice.")
    return batch


def _parse_binary(body: bytes, campaign: bytes) -> Batch:
    if len(body) < _HEAD or body[:4] != b"SHR1":
        raise WireError(400, "The body does not begin like a batch.")
    count = int.from_bytes(body[21:24], "big")
    if not 1 <= count <= MOST_REPORTS or len(body) != _HEAD + _LINE * count:
        raise WireError(400, f"A batch has 1 to {MOST_REPORTS} reports and no other bytes.")
    if body[4:20] != campaign:
        raise WireError(404, "This server collects for another campaign.")
    starts = range(_HEAD, len(body), _LINE)
    keys = [body[at : at + 16] for at in starts]
    return Batch(body[20], keys, [int.from_bytes(body[at + 16 : at + 20], "big") for at in starts])


def _parse_json(body: bytes, campaign: bytes) -> Batch:
    try:
        document = parse_json(body.decode("ascii"))
        lines, number = document["reports"], document["round"]
        good = set(document) == {"campaign", "round", "reports"} and _is_whole(number, 255)
        good = good and isinstance(lines, list) and 1 <= len(lines) <= _MOST_IN_JSON
        good = good and all(map(_is_line, lines))
        keys = [base64.b64decode(key) for key, _ in lines] if good else []
    except (ValueError, KeyError, TypeError, AttributeError):
        good = False
    if not good:
        raise WireError(400, "The document does not hold a campaign, a round and reports.")
    if document["campaign"] != campaign.hex():
        raise WireError(404, "This server collects for another campaign.")
    return Batch(number, keys, [report for _, report in lines])


def _is_whole(value: Any, most: int) -> bool:
    return type(value) is int and 0 <= value <= most


def _is_line(line: Any) -> bool:
    pair = isinstance(line, list) and len(line) == 2 and isinstance(line[0], str)
    return bool(pair and _KEY.fullmatch(line[0]) and _is_whole(line[1], 2**32 - 1))
