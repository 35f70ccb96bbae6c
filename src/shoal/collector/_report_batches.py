"""Read batches of reports as they come over the wire; whatever is malformed is refused whole."""

import base64
import hashlib
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from shoal.documents import parse_json

BINARY = "application/vnd.shoal.reports"
JSON = "application/json"
SHARES = "application/vnd.shoal.shares"
INVITATION = "application/vnd.shoal.invitations"
MOST_BYTES = 2**20
MOST_REPORTS = 10_000
_MOST_IN_JSON = 1_000
_HEAD = 24
_KEY_BYTES = 16
_OTHER_CAMPAIGN = "This server collects for another campaign."
_KEY = re.compile(r"[A-Za-z0-9+/]{22}==", re.ASCII)


class WireError(Exception):
    """A request that is refused: its status, and a reason that quotes nothing of it."""

    def __init__(self, status: int, reason: str, retry_after: int | None = None) -> None:
        super().__init__(reason)
        self.status, self.reason, self.retry_after = status, reason, retry_after


class Batch(NamedTuple):
    """Reports of one round.

    Parameters
    ----------
    reports
        Codes, or of each place on a lattice its bytes.
    """

    round: int
    keys: list[bytes]
    reports: Sequence[int | bytes]


class ShareBatch(NamedTuple):
    """Shares for one of two aggregators.

    Parameters
    ----------
    aggregator
        Which of the two they are for, 0 or 1.
    """

    aggregator: int
    keys: list[bytes]
    shares: list[bytes]


def who_of(key: bytes) -> bytes:
    """Return what the server keeps of a key: a hash, so that a lookup leaks no prefix of it.

    Parameters
    ----------
    key
        The idempotency key.
    """
    return hashlib.sha256(b"shoal.who.1\n" + key).digest()[:16]


def parse_batch(body: bytes, kind: str, campaign: bytes, lattice_columns: int = 0) -> Batch:
    """Return the batch in a request's body.

    Parameters
    ----------
    campaign
        The id of the campaign it must be for.
    lattice_columns
        How many numbers a report on a lattice has; 0 where reports are codes alone.

    Raises
    ------
    WireError
        400 if it is malformed, 404 if it is for another campaign, 415 for another content type.
    """
    kind = kind.partition(";")[0].strip().lower()
    if kind == BINARY and lattice_columns and body[:4] == b"SHP1":
        batch = Batch(*_parse_lines(body, b"SHP1", campaign, 8 * lattice_columns))
    elif kind == BINARY:
        batch = _parse_binary(body, campaign)
    elif kind == JSON:
        batch = _parse_json(body, campaign)
    else:
        raise WireError(415, f"Reports are sent as {BINARY} or {JSON}.")
    _check_distinct(batch.keys)
    return batch


def parse_shares(body: bytes, kind: str, campaign: bytes, share_bytes: int) -> ShareBatch:
    """Return the shares in a request's body.

    Parameters
    ----------
    campaign
        The id of the campaign it must be for.
    share_bytes
        How long each share must be.

    Raises
    ------
    WireError
        As ``parse_batch``.
    """
    if kind.partition(";")[0].strip().lower() != SHARES:
        raise WireError(415, f"Shares are sent as {SHARES}.")
    place, keys, shares = _parse_lines(body, b"SHS1", campaign, share_bytes)
    _check_distinct(keys)
    return ShareBatch(place, keys, shares)


def parse_invitation(body: bytes, campaign: bytes) -> bytes:
    """Return the key that a request asks about."""
    if len(body) != 4 + 16 + _KEY_BYTES or body[:4] != b"SHI1":
        raise WireError(400, "The body holds no campaign and key.")
    if body[4:20] != campaign:
        raise WireError(404, _OTHER_CAMPAIGN)
    return body[20:]


def _check_distinct(keys: list[bytes]) -> None:
    if len(set(keys)) != len(keys):
        raise WireError(400, "One key is in the batch twice.")


def _parse_binary(body: bytes, campaign: bytes) -> Batch:
    number, keys, reports = _parse_lines(body, b"SHR1", campaign, 4)
    return Batch(number, keys, [int.from_bytes(report, "big") for report in reports])


def _parse_lines(
    body: bytes, magic: bytes, campaign: bytes, size: int
) -> tuple[int, list[bytes], list[bytes]]:
    """Return the number in a batch's head, and the key and the content of every line."""
    if len(body) < _HEAD or body[:4] != magic:
        raise WireError(400, "The body does not begin like a batch.")
    count, line = int.from_bytes(body[21:24], "big"), _KEY_BYTES + size
    if not 1 <= count <= MOST_REPORTS or len(body) != _HEAD + line * count:
        raise WireError(400, f"A batch has 1 to {MOST_REPORTS} lines and no other bytes.")
    if body[4:20] != campaign:
        raise WireError(404, _OTHER_CAMPAIGN)
    starts = range(_HEAD, len(body), line)
    keys = [body[at : at + _KEY_BYTES] for at in starts]
    return body[20], keys, [body[at + _KEY_BYTES : at + line] for at in starts]


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
        raise WireError(404, _OTHER_CAMPAIGN)
    return Batch(number, keys, [report for _, report in lines])


def _is_whole(value: Any, most: int) -> bool:
    return type(value) is int and 0 <= value <= most


def _is_line(line: Any) -> bool:
    pair = isinstance(line, list) and len(line) == 2 and isinstance(line[0], str)
    return bool(pair and _KEY.fullmatch(line[0]) and _is_whole(line[1], 2**32 - 1))
