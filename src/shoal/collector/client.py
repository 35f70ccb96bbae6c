"""Take part in a campaign: draw one report on this device, write it down, send it.

One file on the standard library alone, so that an app can copy it. The record is read by ``draw``,
``split`` and ``label`` only, and none of these sends anything. Every draw compares whole random
words with whole numbers, so a report is epsilon-LDP exactly; see ``client.proof.md``. The twin of
this file in JavaScript is ``client.js``.

>>> question = {"mechanism": "category", "epsilon": "1",
...             "oracle": {"name": "randomized_response", "size": 3}}
>>> draw(question, 2, WordStream(bytes(16)))
2
"""

import base64
import hashlib
import hmac
import json
import math
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

Document = dict[str, Any]
Report = int | list[int]  # a code, or whole numbers of steps on a lattice
MOST_CODES = 2**24  # different reports of one question: the server counts each
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 97, 127)
SETTINGS = ("local", "shuffled", "two_aggregators", "central")  # from strong to weak
LABEL_ROUND = 255
_SIDES = 2**20
MOST_SHARED_CELLS = 1_024  # of a question to two aggregators: a share has 8 bytes for each
_WORD_BITS = 64
_NORM_BITS = 20  # of the number up to 1 / sqrt(d) by which noise on a lattice is proposed
_RATE_BITS = _WORD_BITS - _NORM_BITS  # of its rate a step
FARTHEST = 2**53 - 1  # in steps; noise gets there with a chance below e^(-2^22)
_DECIMAL = re.compile(r"(0|[1-9][0-9]?)(\.[0-9]{1,12})?", re.ASCII)
_LENGTH = re.compile(r"[0-9]{1,9}(\.[0-9]{1,12})?", re.ASCII)
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?", re.ASCII)
_MOMENT = re.compile(r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]Z", re.ASCII)
_KEY = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_TLS = re.compile(r"(https://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])|"
                  r"http://(127\.0\.0\.1|localhost|\[::1\]))(:[0-9]{1,5})?(/[!-~]*)?",
                  re.ASCII)  # fmt: skip
# The names of every document, so that an unknown one is refused.
_FIELDS = {"format", "type", "name", "purpose", "operator", "contact", "epsilon", "n_expected",
           "n_clusters", "rounds", "opens", "closes", "epoch_seconds", "setting", "enrolment",
           "addresses"}  # fmt: skip
_OPTIONAL = {"columns", "categories", "labels"}
_OF_SETTING = {"shuffled": {"delta", "n_least"}, "two_aggregators": {"aggregators", "n_least"}}
_MODEL = {"format", "type", "campaign", "centers", "units", "n_reports", "guarantee", "control"}
_ROUND = {"format", "type", "campaign", "round", "question", "before"}
_QUESTIONS = {
    "category": {"mechanism", "epsilon", "oracle"},
    "local_grid": {"mechanism", "epsilon", "oracle", "columns", "cells"},
    "residual_sign": {"mechanism", "epsilon", "oracle", "columns", "centers", "reach"},
    "cell_shares": {"mechanism", "epsilon", "columns", "cells"},
    "nd_laplace": {"mechanism", "epsilon", "columns", "radius", "unit", "units", "step_bits"},
}
_ENTRY = {"name", "epsilon", "token", "sent", "report"}


class Refused(Exception):
    """The client does not take part; the text is for the person."""


def need(condition: object, text: str) -> None:
    """Refuse with this text unless the condition holds."""
    if not condition:
        raise Refused(text)


def _check_names(value: Any, required: set[str], what: str, optional: Any = ()) -> None:
    good = isinstance(value, dict) and required <= set(value) <= required.union(optional)
    need(good, f"The {what} has an unknown field, or lacks one.")


# ---- documents: canonical bytes and signatures


def canonical(document: object) -> bytes:
    """Return the one way to write a document as bytes, which is what is signed.

    Parameters
    ----------
    document
        Objects, lists, texts, truth values and whole numbers below 2^53.
    """
    _check_value(document, 0)
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode("ascii")


def _check_value(value: object, depth: int) -> None:
    need(depth <= 8, "The document is nested too deeply.")
    if isinstance(value, dict):
        need(all(isinstance(key, str) for key in value), "A name in the document is no text.")
    if isinstance(value, dict | list):
        for part in [*value, *value.values()] if isinstance(value, dict) else value:
            _check_value(part, depth + 1)
    elif isinstance(value, str):
        need(not re.search("[\ud800-\udfff]", value), "The document holds half a character.")
    else:
        whole = isinstance(value, int) and abs(value) < 2**53
        need(whole, "The document holds a value of a kind that is not allowed.")


def identity(kind: str, payload: bytes) -> bytes:
    """Return the 16 bytes that name a document, for a campaign its id.

    Parameters
    ----------
    kind
        ``campaign``, ``round``, ``model`` or ``close``.
    """
    return hashlib.sha256(b"shoal.%s.1\n" % kind.encode() + payload).digest()[:16]


def open_envelope(envelope: object, kind: str, key: bytes) -> tuple[Document, bytes]:
    """Return the document in a signed envelope, and its identity.

    Parameters
    ----------
    envelope
        ``{"payload", "signature", "key"}``, each in base64; its key is a hint and not used.
    Raises
    ------
    Refused
        If it was not signed by this key for this kind, or is not written canonically.
    """
    _check_names(envelope, {"payload", "signature", "key"}, f"signed {kind}")
    parts: Document = envelope  # type: ignore[assignment]
    payload, signature = _from_base64(parts["payload"]), _from_base64(parts["signature"])
    message = b"shoal.%s.1\n" % kind.encode() + payload
    need(verify(key, message, signature), f"The {kind} is not signed by the operator you trust.")
    document = _parse(payload)
    need(isinstance(document, dict), f"The {kind} cannot be read.")
    need(canonical(document) == payload, f"The {kind} is not written in the one allowed way.")
    need(document.get("type") == kind, f"The {kind} says it is something else.")
    need(document.get("format") == 1, f"The {kind} is of a version this client does not know.")
    return document, identity(kind, payload)


def _from_base64(text: object) -> bytes:
    try:
        return base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except ValueError:
        return b""


def _parse(content: bytes) -> Any:
    """Return what JSON holds, or None where it cannot be read."""
    try:
        return json.loads(content, object_pairs_hook=_checked_object)
    except (ValueError, RecursionError):
        return None


def _checked_object(pairs: list[tuple[str, Any]]) -> Document:
    need(all(_KEY.fullmatch(name) for name, _ in pairs), "A document has a name like no other.")
    need(len({name for name, _ in pairs}) == len(pairs), "A document has a name twice.")
    return dict(pairs)


# Ed25519 (RFC 8032, section 5.1), without the cofactor: the standard library has none.
_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_Point = tuple[int, int, int, int]


def _decode(data: bytes) -> _Point | None:
    y, sign = int.from_bytes(data, "little") & (2**255 - 1), data[31] >> 7
    u, v = (y * y - 1) % _P, (_D * y * y + 1) % _P
    x = u * pow(v, 3, _P) * pow(u * pow(v, 7, _P), (_P - 5) // 8, _P) % _P
    if (v * x * x - u) % _P:
        x = x * pow(2, (_P - 1) // 4, _P) % _P
    if y >= _P or (v * x * x - u) % _P or (not x and sign):
        return None
    x = x if x % 2 == sign else _P - x
    return x, y, 1, x * y % _P


def _add(p: _Point, q: _Point) -> _Point:
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % _P, (p[1] + p[0]) * (q[1] + q[0]) % _P
    c, d = 2 * _D * p[3] * q[3] % _P, 2 * p[2] * q[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(n: int, point: _Point) -> _Point:
    result: _Point = (0, 1, 1, 0)
    for bit in bin(n)[2:]:
        result = _add(result, result)
        result = _add(result, point) if bit == "1" else result
    return result


_BASE_Y = 4 * pow(5, -1, _P) % _P
_BASE = _decode(_BASE_Y.to_bytes(32, "little")) or (0, 1, 1, 0)


def verify(key: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether an Ed25519 signature is valid.

    Parameters
    ----------
    key
        The public key, 32 bytes.
    signature
        64 bytes.
    """
    if len(key) != 32 or len(signature) != 64:
        return False
    first, s = signature[:32], int.from_bytes(signature[32:], "little")
    r, a = _decode(first), _decode(key)
    if r is None or a is None or s >= _L:
        return False
    h = int.from_bytes(hashlib.sha512(first + key + message).digest(), "little") % _L
    left, right = _times(s, _BASE), _add(r, _times(h, a))
    same_x = (left[0] * right[2] - right[0] * left[2]) % _P == 0
    return same_x and (left[1] * right[2] - right[1] * left[2]) % _P == 0


# ---- draws


class WordStream:
    """Random words of 64 bits: from the operating system, or given for a test.

    Parameters
    ----------
    source
        The bytes to read, for the vectors; None reads the operating system's randomness.
    """

    def __init__(self, source: bytes | None = None) -> None:
        self._source = source
        self.consumed = 0

    def word(self) -> int:
        """Return the next word, big-endian."""
        if self._source is None:
            return int.from_bytes(os.urandom(8), "big")
        part = self._source[self.consumed : self.consumed + 8]
        if len(part) < 8:
            raise ValueError("the given random bytes are used up")
        self.consumed += 8
        return int.from_bytes(part, "big")

    def below(self, m: int) -> int:
        """Return a whole number from 0 to m - 1, all equally likely.

        Parameters
        ----------
        m
            From 1 to 2^32; 1 reads a word too.
        """
        limit = 2**64 - 2**64 % m
        while (word := self.word()) >= limit:
            pass
        return word % m  # [P1]


@lru_cache(maxsize=64)
def keep_threshold(epsilon: str, k: int) -> int:
    """Return below which word randomised response over k values keeps the truth."""
    a, b = Fraction(epsilon).as_integer_ratio()
    term = total = one = 2**256
    i = 1
    while term:  # the series of e^epsilon, each term rounded down: a lower bound
        term = term * a // (b * i)
        total, i = total + term, i + 1
    return 2**64 * total // (total + (k - 1) * one)  # [P2]


def codes_of(question: Document) -> int:
    """Return how many different codes the oracle of a question has."""
    oracle = question["oracle"]
    if oracle["name"] == "randomized_response":
        return int(oracle["size"])
    return int(oracle["buckets"] ** (oracle["digits"] + 1))


def draw(question: Document, record: Any, stream: WordStream) -> Report:
    """Return the report of one record: a whole number, or one for each column of a lattice.

    Parameters
    ----------
    question
        A question that ``check_question`` let pass.
    record
        A code for ``category``; otherwise a number for each column. What is no number counts as
        the middle of its column, what is outside as the nearer bound.
    Raises
    ------
    ValueError
        If the record has another width than the question, before any word is read.
    """
    if question["mechanism"] == "category":
        size = question["oracle"]["size"]
        if isinstance(record, bool) or not isinstance(record, int) or not 0 <= record < size:
            raise ValueError(f"the record must be a code from 0 to {size - 1}")
        return _oracle(question, record, stream)
    row, bounds = _row(question, record)
    if question["mechanism"] == "local_grid":
        return _oracle(question, cell_of(row, bounds, question["cells"]), stream)
    if question["mechanism"] == "nd_laplace":
        places = _places(question, row, bounds)
        noise = lattice_noise(len(row), lattice_rate(question), stream)
        return [min(max(k + n, -FARTHEST), FARTHEST) for k, n in zip(places, noise, strict=True)]
    return _residual(question, row, bounds, stream)


def _row(question: Document, record: Any) -> tuple[list[float], list[tuple[float, float]]]:
    """Return a record as numbers within the bounds, and the bounds."""
    bounds = [(float(low), float(high)) for low, high in question["columns"]]
    if len(record) != len(bounds):
        raise ValueError(f"the record must have {len(bounds)} numbers")
    return [_number(x, *bound) for x, bound in zip(record, bounds, strict=True)], bounds


def split(question: Document, record: Any) -> tuple[bytes, bytes]:
    """Return the two shares of one record's cell, for two aggregators; each alone tells nothing.

    Parameters
    ----------
    question
        A question of ``cell_shares`` that ``check_question`` let pass.
    record
        A number for each column, as for ``draw``.
    """
    row, bounds = _row(question, record)
    cell, seed = cell_of(row, bounds, question["cells"]), os.urandom(32)
    return seed, share_of(cell, math.prod(question["cells"]), seed)  # [P5]


def cell_of(row: list[float], bounds: list[tuple[float, float]], cells: list[int]) -> int:
    """Return the number of the cell that a clipped row lies in, last column fastest."""
    key = 0
    for x, (low, high), m in zip(row, bounds, cells, strict=True):
        steps = min(max((x - low) * (m / (high - low)), 0.0), float(m))
        key = key * m + min(int(steps), m - 1)
    return key


def _number(x: object, low: float, high: float) -> float:
    is_number = isinstance(x, int | float) and not isinstance(x, bool)
    if not is_number or (isinstance(x, float) and math.isnan(x)):
        return low / 2 + high / 2
    try:
        return min(max(float(x), low), high)  # type: ignore[arg-type]
    except OverflowError:  # a whole number beyond every double
        return high if x > 0 else low  # type: ignore[operator]


def _oracle(question: Document, code: int, stream: WordStream) -> int:
    oracle, epsilon = question["oracle"], question["epsilon"]
    if oracle["name"] == "randomized_response":
        return _respond(epsilon, oracle["size"], code, stream)
    g, t = oracle["buckets"], oracle["digits"]
    function = stream.below(g**t)
    place = sum((function // g**i) * (code // g**i % g) for i in range(t)) % g
    return int(function * g) + _respond(epsilon, g, place, stream)  # [P3]


def _respond(epsilon: str, k: int, code: int, stream: WordStream) -> int:
    keep = stream.word() < keep_threshold(epsilon, k)
    other = stream.below(k - 1)  # always read, so that the number of words tells nothing
    return code if keep else other + (other >= code)


def _residual(
    question: Document, row: list[float], bounds: list[tuple[float, float]], stream: WordStream
) -> int:
    centers = [[float(c) for c in center] for center in question["centers"]]
    places = [_scaled(center, bounds) for center in centers]
    y = _scaled(row, bounds)
    column = stream.below(len(y))  # [P4]
    nearest = _nearest([[v - c for v, c in zip(y, place, strict=True)] for place in places])
    way = (y[column] - places[nearest][column]) / float(question["reach"])
    steps = round((min(max(way, -1.0), 1.0) + 1) * 2**19)  # half to even
    side = stream.below(_SIDES) < steps
    return column * codes_of(question) + _oracle(question, 2 * nearest + side, stream)


def _scaled(row: list[float], bounds: list[tuple[float, float]]) -> list[float]:
    return [(x - low) / (high - low) * 2 - 1 for x, (low, high) in zip(row, bounds, strict=True)]


def _places(question: Document, row: list[float], bounds: list[tuple[float, float]]) -> list[int]:
    """Return where a row lies on the lattice, in whole steps from the low bounds."""
    step = 2.0 ** -question["step_bits"]
    units = [float(unit) for unit in question["units"]]
    lows = [low for low, _ in bounds]
    return [
        round((x - low) / unit / step)  # [P6] half to even; dividing by the step is exact
        for x, low, unit in zip(row, lows, units, strict=True)
    ]


def lattice_rate(question: Document) -> int:
    """Return how fast noise on a lattice falls, in 2^-44 a step: within the radius by the level.

    Two records within the radius lie at most so many steps apart, rounding included.
    """
    steps = Fraction(question["radius"]) * Fraction(2) ** question["step_bits"]
    apart: Fraction = steps + len(question["columns"]) + 1
    return exact(question["epsilon"]) * (1 << _RATE_BITS) // apart  # [P6]


def lattice_noise(d: int, rate: int, stream: WordStream) -> list[int]:
    """Return whole numbers k with chance proportional to e^(-rate / 2^44 |k|), exactly.

    The length |k| is the Euclidean one. Not a float is computed with, so that every language draws
    the same from the same words.

    Parameters
    ----------
    d
        How many numbers.
    rate
        In 2^-44 a step, from 1 to 2^44.
    stream
        The random words; how many are read depends on the noise alone.
    """
    norm = math.isqrt(4**_NORM_BITS // d)  # [P8] at most 2^20 / sqrt(d)
    while True:
        noise = [_discrete_laplace(rate * norm, stream) for _ in range(d)]
        if _accepts(noise, rate, norm, stream):
            return noise


def _discrete_laplace(rate: int, stream: WordStream) -> int:
    """Return k with chance proportional to e^(-rate / 2^64 |k|)."""
    while (k := _propose(rate, stream)) is None:
        pass
    return k


def _propose(rate: int, stream: WordStream) -> int | None:
    """Return such a number, or None where another try is due."""
    part, whole = stream.word(), 0
    if not _coin_of_part(part, stream):
        return None
    while _coin_of_e(stream):
        whole += 1
    size = (part + (whole << _WORD_BITS)) // rate  # [P7]
    if stream.below(2) == 0:
        return size
    return -size or None  # zero would come twice as often as it should


def _accepts(noise: list[int], rate: int, norm: int, stream: WordStream) -> bool:
    """Return true with chance e^-g, for g by how much the proposal fell too slowly."""
    square = (rate << _NORM_BITS) ** 2 * sum(k * k for k in noise)
    proposed = rate * norm * sum(map(abs, noise))
    whole = (math.isqrt(square) - proposed) >> _WORD_BITS  # [P8] of g
    if not all(_coin_of_e(stream) for _ in range(whole)):
        return False
    rest = proposed + (whole << _WORD_BITS)
    return _exponential_coin(lambda j: _is_below_root(j, square, rest, stream))


def _exponential_coin(coin: Callable[[int], bool]) -> bool:
    """Return true with chance e^-f, given coins of chance f / j for j = 1, 2, ..."""
    j = 1
    while coin(j):
        j += 1
    return j % 2 == 1  # [P9]


def _is_first(j: int, stream: WordStream) -> bool:
    """Return true with chance 1 / j."""
    return j == 1 or stream.below(j) == 0


def _coin_of_part(part: int, stream: WordStream) -> bool:
    """Return true with chance e^(-part / 2^64)."""
    return _exponential_coin(lambda j: _is_first(j, stream) and stream.word() < part)


def _coin_of_e(stream: WordStream) -> bool:
    """Return true with chance 1 / e."""
    return _exponential_coin(lambda j: _is_first(j, stream))


def _is_below_root(j: int, square: int, rest: int, stream: WordStream) -> bool:
    """Return true with chance (sqrt(square) - rest) / (2^64 j), by as many bits as that takes."""
    bits, shift = stream.word(), 0
    while True:
        edge, target = rest << shift, square << 2 * shift
        if (j * bits + edge) ** 2 >= target:
            return False  # [P9] wherever in its interval the random number lies
        if (j * (bits + 1) + edge) ** 2 <= target:
            return True
        bits, shift = bits << _WORD_BITS | stream.word(), shift + _WORD_BITS


def _nearest(differences: list[list[float]]) -> int:
    """Return the first line whose squares have the smallest sum, added in order."""
    distances = []
    for line in differences:
        total = 0.0
        for value in line:  # not sum(), which newer Pythons round otherwise
            total += value * value
        distances.append(total)
    return distances.index(min(distances))


def label(model: Document, record: list[Any], question: Document) -> int:
    """Return the group of one's own record; nothing is sent."""
    row, _ = _row(question, record)
    units = [float(unit) for unit in model["units"]]
    centers = [[float(c) for c in center] for center in model["centers"]]
    return _nearest(
        [[(x - c) / u for x, c, u in zip(row, line, units, strict=True)] for line in centers]
    )


# ---- what a client refuses


class Limits(NamedTuple):
    """What a person allows.

    Parameters
    ----------
    epsilon
        The largest promise of one campaign, its label included; a decimal.
    setting
        The weakest trust: ``local``, ``shuffled``, ``two_aggregators`` or ``central``.
    nearby
        Whether a campaign may hide only values within a radius from each other, and tell far ones
        apart. What it costs is what it tells of two values within the radius.
    """

    epsilon: str = "2"
    ceiling: str = "8"
    setting: str = "local"
    nearby: bool = False


USUAL_LIMITS = Limits()


def exact(text: object, what: str = "epsilon") -> Fraction:
    """Return a decimal as a fraction, refused unless it is written plainly and in range.

    Parameters
    ----------
    text
        E.g. ``"0.5"``; from 2^-30 to 20.
    """
    plain = isinstance(text, str) and _DECIMAL.fullmatch(text) is not None
    value = Fraction(str(text)) if plain else Fraction(0)
    need(Fraction(1, 2**30) <= value <= 20, f"The {what} is not allowed.")
    return value


def _finite(text: object) -> float:
    plain = isinstance(text, str) and len(text) <= 32 and _NUMBER.fullmatch(text)
    value = float(text) if plain else math.nan  # type: ignore[arg-type]
    need(math.isfinite(value), "A number of the question is not written plainly.")
    return value


def _whole(value: object, most: int = 2**53 - 1) -> int:
    good = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most
    need(good, "A whole number of the campaign is not allowed.")
    return int(value)  # type: ignore[call-overload, no-any-return]


def check_question(question: Any, epsilon: Fraction) -> None:
    """Refuse a question this client cannot answer, or that costs other than it should."""
    mechanism: Any = question.get("mechanism") if isinstance(question, dict) else None
    need(isinstance(mechanism, str) and mechanism in _QUESTIONS, "The mechanism is not known.")
    _check_names(question, _QUESTIONS[mechanism], "question")
    need(exact(question["epsilon"]) == epsilon, "The question costs other than the campaign says.")
    size = _check_oracle(question["oracle"]) if "oracle" in question else 0
    columns = _lists(question["columns"], 2) if "columns" in question else []
    most = 8 if mechanism == "nd_laplace" else 4
    need(len(columns) <= most, f"The question must have one to {most} columns.")
    for low, high in columns:
        need(0 < _finite(high) - _finite(low) < math.inf, "A column's bounds are not in order.")
    if "cells" in question:
        (cells,) = _lists([question["cells"]], len(columns))
        total = math.prod(_whole(m, MOST_CODES) for m in cells)
        need(total == size or ("oracle" not in question and 2 <= total <= MOST_SHARED_CELLS),
             "The cells do not fit.")  # fmt: skip
        for (low, high), m in zip(columns, cells, strict=True):
            need(math.isfinite(m / (float(high) - float(low))), "A column is too narrow.")
    if mechanism == "nd_laplace":
        _check_lattice(question, columns)
    if mechanism == "residual_sign":
        centers = _lists(question["centers"], len(columns))
        need(2 * len(centers) == size, "The centres do not fit the answers.")
        for center in centers:
            for value, (low, high) in zip(center, columns, strict=True):
                need(float(low) <= _finite(value) <= float(high), "A centre is out of bounds.")
        need(_finite(question["reach"]) > 0, "The reach is not positive.")
        need(codes_of(question) * len(columns) <= 2**32, "There are too many different answers.")


def _check_lattice(question: Document, columns: list[list[str]]) -> None:
    """Refuse a lattice on which the promise within the radius would not hold exactly."""
    (units,) = _lists([question["units"]], len(columns))
    need(all(_finite(unit) > 0 for unit in units), "A column's unit is not positive.")
    radius, bits, unit = question["radius"], question["step_bits"], question["unit"]
    need(is_length(radius), "The radius is not clear.")
    need(isinstance(unit, str) and len(unit) <= 20, "The unit of distance is not clear.")
    whole = isinstance(bits, int) and not isinstance(bits, bool)
    need(whole and -64 <= bits <= 64, "The step of the lattice is not clear.")
    for (low, high), one in zip(columns, units, strict=True):
        across = (float(high) - float(low)) / float(one) * 2.0**bits
        need(across <= 2**40, "A column is too wide for its lattice.")  # [P6]
    need(2**14 <= lattice_rate(question) <= 2**_RATE_BITS, "The lattice is too fine or too coarse.")


def is_length(text: object) -> bool:
    """Return whether a text is a positive decimal, as a radius is written."""
    return isinstance(text, str) and bool(_LENGTH.fullmatch(text)) and Fraction(text) > 0


def _lists(value: Any, width: int) -> list[list[Any]]:
    good = isinstance(value, list) and 1 <= len(value) <= MOST_CODES
    good = good and all(isinstance(line, list) and len(line) == width for line in value)
    need(good, "A list of the question has the wrong shape.")
    return value  # type: ignore[no-any-return]


def _check_oracle(oracle: Any) -> int:
    hashing = isinstance(oracle, dict) and oracle.get("name") == "local_hash"
    _check_names(oracle, {"name", "size", *(("buckets", "digits") if hashing else ())}, "oracle")
    need(hashing or oracle["name"] == "randomized_response", "The oracle is not known.")
    size = _whole(oracle["size"], MOST_CODES)
    need(size >= 2, "There is only one possible answer.")
    if hashing:
        g, t = _whole(oracle["buckets"], 127), _whole(oracle["digits"], 24)
        need(g in PRIMES and size <= g**t and g ** (t + 1) <= MOST_CODES, "The hash does not fit.")
    return size


def check_campaign(campaign: Document, limits: Limits, now: str | None) -> None:
    """Refuse a campaign that is malformed, closed, or weaker than the person allows.

    Parameters
    ----------
    now
        The time, as ``2026-11-16T00:00:00Z``; None takes a campaign that is closed, too.
    """
    setting: Any = campaign.get("setting")
    need(setting in SETTINGS, "The campaign's setting is not known.")
    allowed = SETTINGS.index(setting) <= SETTINGS.index(limits.setting)
    need(allowed and setting != "central", "The campaign's setting is weaker than you allow.")
    _check_names(campaign, _FIELDS | _OF_SETTING.get(setting, set()), "campaign", _OPTIONAL)
    need(("columns" in campaign) != ("categories" in campaign), "The campaign asks nothing clear.")
    cost = exact(campaign["epsilon"])
    need(cost <= Fraction(limits.epsilon), "The campaign asks for more than you allow it.")
    if "labels" in campaign:
        _check_names(campaign["labels"], {"epsilon"}, "price of labels")
        exact(campaign["labels"]["epsilon"], "epsilon of labels")
    times = campaign["opens"], campaign["closes"]
    need(all(isinstance(at, str) and _MOMENT.fullmatch(at) for at in times), "The dates are wrong.")
    is_open = now is None or times[0] <= now <= times[1]
    need(is_open, "The campaign is not open now.")
    _check_rounds(campaign["rounds"], cost, setting == "two_aggregators")
    if campaign["rounds"][0]["question"]["mechanism"] == "nd_laplace":
        need(limits.nearby, "The campaign hides only near values from each other: you allow none.")
        need(setting == "local", "The question does not fit the campaign's setting.")
    if setting == "two_aggregators":
        _check_aggregators(campaign["aggregators"])
        need("labels" not in campaign, "Two aggregators take no labels.")


def _check_rounds(rounds: Any, cost: Fraction, is_shared: bool) -> None:
    need(isinstance(rounds, list) and 1 <= len(rounds) <= 16, "The rounds are not clear.")
    for number, one in enumerate(rounds):
        _check_names(one, {"share", "question"}, "round")
        if one["question"] != "later" or not number:
            check_question(one["question"], cost)
            shares = one["question"]["mechanism"] == "cell_shares"
            need(shares == is_shared, "The question does not fit the campaign's setting.")
    need(sum(_whole(one["share"], 2**32) for one in rounds) == 2**32, "The rounds do not add up.")
    need(len(rounds) == 1 or not is_shared, "Two aggregators are asked in one round.")
    is_lattice = rounds[0]["question"]["mechanism"] == "nd_laplace"
    need(len(rounds) == 1 or not is_lattice, "Reports on a lattice are asked for in one round.")


def _check_aggregators(both: Any) -> None:
    need(isinstance(both, list) and len(both) == 2, "There must be two aggregators.")
    for one in both:
        _check_names(one, {"address", "key"}, "aggregator")
        secure = isinstance(one["address"], str) and _TLS.fullmatch(one["address"])
        need(secure, "An aggregator's address is not protected by TLS.")
        need(_is_hex(one["key"]), "An aggregator's key is not clear.")
    hosts = {_host_of(one["address"]) for one in both}
    apart = len(hosts) == 2 and both[0]["key"] != both[1]["key"]
    need(apart, "The two aggregators are one.")


def _is_hex(value: object) -> bool:
    """Whether a value is written in 64 digits from 0 to f: a key, or a digest of sums."""
    return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value, re.ASCII) is not None


def _host_of(address: str) -> tuple[str | None, int]:
    """Return the host and port behind an address, however it is written."""
    from urllib.parse import urlsplit

    parts = urlsplit(address)
    return parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


# ---- keys, rounds and batches


def key_of(token: bytes, campaign: bytes, purpose: str = "key") -> bytes:
    """Return the idempotency key of one person in one campaign.

    Parameters
    ----------
    token
        32 secret bytes.
    purpose
        ``key`` of the report, or ``label`` of the label that is sent back.
    """
    message = b"shoal.%s.1\n" % purpose.encode() + campaign
    return hmac.new(token, message, hashlib.sha256).digest()[:16]


def round_of(campaign: bytes, key: bytes, shares: list[int]) -> int:
    """Return in which round a key reports: public, and blind to the record.

    Parameters
    ----------
    shares
        Of each round, summing to 2^32.
    """
    digest = hashlib.sha256(b"shoal.round.1\n" + campaign + key).digest()
    place, number = int.from_bytes(digest[:4], "big"), 0
    while place >= shares[number]:
        place, number = place - shares[number], number + 1
    return number


def batch_of(campaign: bytes, number: int, reports: Sequence[tuple[bytes, Report]]) -> bytes:
    """Return the body that carries reports of one round, all of them codes or all on a lattice."""
    lines = [(key, _report_bytes(report)) for key, report in reports]
    magic = b"SHP1" if isinstance(reports[0][1], list) else b"SHR1"
    return _batch(magic, campaign, number, lines)


def _report_bytes(report: Report) -> bytes:
    if isinstance(report, int):
        return report.to_bytes(4, "big")
    return b"".join(place.to_bytes(8, "big", signed=True) for place in report)


def share_batch_of(campaign: bytes, place: int, shares: list[tuple[bytes, bytes]]) -> bytes:
    """Return the body that carries shares to one of two aggregators.

    Parameters
    ----------
    place
        0 for the first aggregator, 1 for the second.
    shares
        Key and content of each person: a seed, or ``tag_of(seed)`` and the share.
    """
    return _batch(b"SHS1", campaign, place, shares)


def _batch(magic: bytes, campaign: bytes, number: int, lines: list[tuple[bytes, bytes]]) -> bytes:
    head = magic + campaign + bytes([number]) + len(lines).to_bytes(3, "big")
    return head + b"".join(key + content for key, content in lines)


def invitation_of(campaign: bytes, key: bytes) -> bytes:
    """Return the body that asks whether a key may report."""
    return b"SHI1" + campaign + key


def tag_of(seed: bytes) -> bytes:
    """Return what tells that two shares belong together, and nothing else: a hash of the seed."""
    return hashlib.sha256(b"shoal.tag.1\n" + seed).digest()[:16]


def pad_of(seed: bytes, cells: int) -> bytes:
    """Return the words of 64 bits that a seed stands for: the first aggregator's share.

    Parameters
    ----------
    seed
        32 random bytes.
    """
    blocks = (b"shoal.share.1\n" + seed + i.to_bytes(4, "big") for i in range(-(-cells // 4)))
    return b"".join(hashlib.sha256(block).digest() for block in blocks)[: 8 * cells]


def share_of(cell: int, cells: int, seed: bytes) -> bytes:
    """Return the second aggregator's share of a record's cell: it and the pad add up to one-hot.

    Parameters
    ----------
    seed
        The first aggregator's share, 32 random bytes.
    """
    pad = pad_of(seed, cells)
    words = (int.from_bytes(pad[8 * i : 8 * i + 8], "big") for i in range(cells))
    return b"".join((((i == cell) - w) % 2**64).to_bytes(8, "big") for i, w in enumerate(words))


# ---- the notebook, and taking part


class Notebook:
    """The small file that keeps the token, every permanent report and what was spent.

    Parameters
    ----------
    path
        Where it is, or will be written; readable by its owner alone.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    @contextmanager
    def pages(self) -> Iterator[Document]:
        """Yield the content under a lock, and write it back whole when it was changed."""
        try:
            import fcntl
        except ImportError:
            raise Refused("This system has no file locks for the notebook.") from None
        try:
            with open(os.open(self.path + ".lock", os.O_CREAT | os.O_RDWR, 0o600)) as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                pages, before = self._read()
                yield pages
                if json.dumps(pages, sort_keys=True) != before:
                    self._write(pages)
        except OSError:
            raise Refused("The notebook cannot be read or written.") from None

    def start_as_another_person(self) -> None:
        """Give an open campaign a new person: somebody else uses this device from now on."""
        with self.pages() as pages:
            pages["token"] = os.urandom(32).hex()

    def _read(self) -> tuple[Document, str]:
        """Return the content, and how it is written in the file."""
        if not os.path.exists(self.path):
            return {"version": 2, "token": os.urandom(32).hex(), "entries": {}}, ""
        with open(self.path, encoding="ascii") as file:
            own = os.fstat(file.fileno()).st_uid == os.getuid()
            need(own, "The notebook belongs to somebody else.")
            try:
                pages = json.load(file)
                before = json.dumps(pages, sort_keys=True)
                pages = _upgraded(pages) if pages["version"] == 1 else pages
                good = pages["version"] == 2 and len(bytes.fromhex(pages["token"])) == 32
                good = good and all(set(entry) >= _ENTRY for entry in pages["entries"].values())
            except (ValueError, KeyError, TypeError, AttributeError):
                good = False
        need(good, "The notebook is damaged; it is not begun anew.")
        return pages, before

    def _write(self, pages: Document) -> None:
        part = f"{self.path}.part"
        with open(os.open(part, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
            json.dump(pages, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, self.path)
        folder = os.open(os.path.dirname(os.path.abspath(self.path)), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _upgraded(pages: Document) -> Document:
    """Return a notebook of the first version, which had one person a campaign, as it is now."""
    entries = {}
    for place, entry in pages["asked"].items():
        # Whoever waited for a question had drawn nothing, and was charged all the same.
        if "report" in entry:
            campaign, _, label = place.partition("/")
            token = bytes.fromhex(entry["token"])
            own = _place(campaign, key_of(token, bytes.fromhex(campaign)))
            entries[f"{own}/{label}" if label else own] = entry
    return {"version": 2, "token": pages["token"], "entries": entries}


def _place(campaign: str, key: bytes) -> str:
    """Return under which name the notebook keeps one person's report to a campaign."""
    return f"{campaign}/{key.hex()}"


def _spent(entries: Document, place: str) -> Fraction:
    """Return what the person of a place has spent at most.

    Several people may share a device. Each has one key in a campaign, so one person's part of
    another campaign is at most its dearest; keys that a server did not know may be anybody's.
    """
    people: dict[tuple[str, str], Fraction] = {}
    total = Fraction(0)
    for at, entry in entries.items():
        campaign, key = at.split("/")[:2]
        if entry.get("refused") and (campaign, key) != tuple(place.split("/")[:2]):
            total += Fraction(entry["epsilon"])
        else:
            spent = people.get((campaign, key), Fraction(0)) + Fraction(entry["epsilon"])
            people[campaign, key] = spent
    own_campaign, own_key = place.split("/")[:2]
    for campaign in {campaign for campaign, _ in people}:
        if campaign == own_campaign:
            total += people.get((campaign, own_key), Fraction(0))
        else:
            total += max(spent for (at, _), spent in people.items() if at == campaign)
    return total


Answer = tuple[int, bytes, "str | None"]  # status, body, Retry-After


def http(url: str, body: bytes | None = None) -> Answer:
    """Send one request, and return its status, body and Retry-After; 0 where nobody answered.

    Parameters
    ----------
    url
        The address; https, or http to this machine.
    body
        A batch to post; None gets.
    """
    import http.client
    import urllib.error
    import urllib.request

    need(_TLS.fullmatch(url), "The address is not protected by TLS.")
    name = url.rpartition("/")[2]  # reports or shares
    kind = {"Content-Type": f"application/vnd.shoal.{name}"} if body is not None else {}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, kind), timeout=30) as answer:
            return answer.status, answer.read(2**24), None
    except urllib.error.HTTPError as error:
        return error.code, b"", error.headers.get("Retry-After")
    except (OSError, http.client.HTTPException):  # also an answer that is not HTTP
        return 0, b"", None


def _seconds(retry_after: str | None) -> float:
    """Return how long a server asks to wait: a number or a date, at most five minutes."""
    from email.utils import parsedate_to_datetime

    if retry_after is None:
        return 0.0
    try:
        if retry_after.isdigit():
            seconds = float(retry_after[:9])
        else:
            seconds = parsedate_to_datetime(retry_after).timestamp() - time.time()
    except (ValueError, OverflowError):
        return 0.0
    return min(max(seconds, 0.0), 300.0)


def _secret(value: bytes | str, what: str) -> bytes:
    """Return a key or token as 32 bytes, also where it is written in 64 digits."""
    text = value if isinstance(value, str) else ""
    if re.fullmatch(r"[0-9a-fA-F]{64}", text, re.ASCII):
        return bytes.fromhex(text)
    good = isinstance(value, bytes) and len(value) == 32
    need(good, f"The {what} is damaged: it has 32 bytes, or 64 digits from 0 to f.")
    return value  # type: ignore[return-value]


class Client:
    """Take part in one campaign for one person.

    Parameters
    ----------
    address
        Of the server, without ``/v1``.
    key
        The operator's public key, pinned: 32 bytes, or 64 digits as it is printed.
    notebook
        The person's notebook.
    token
        From the person's invitation, likewise. None in an open campaign, and on a device where
        one person has used theirs before.
    limits
        What the person allows.
    send
        Sends a request; replaced in tests.
    pause
        Waits some seconds; replaced in tests.
    """

    def __init__(self, address: str, key: bytes | str, notebook: Notebook, *,
                 token: bytes | str | None = None, limits: Limits = USUAL_LIMITS,
                 send: Callable[..., Answer] = http,
                 pause: Callable[[float], None] = time.sleep) -> None:  # fmt: skip
        self.address, self.key, self.notebook = address.rstrip("/"), _secret(key, "key"), notebook
        self.token = None if token is None else _secret(token, "token")
        self.limits, self.send, self.pause = limits, send, pause

    def campaign(self, must_be_open: bool = True) -> tuple[Document, bytes]:
        """Return the checked campaign and its id."""
        status, body, _ = self.send(self.address + "/.well-known/shoal")
        known = _parse(body) if status == 200 else {"versions": [1]}
        versions = known.get("versions") if isinstance(known, dict) else None
        need(isinstance(versions, list) and 1 in versions, "The server speaks another version.")
        campaign, name = self._document("/v1/campaign", "campaign")
        check_campaign(campaign, self.limits, _now() if must_be_open else None)
        return campaign, name

    def take_part(self, record: Any) -> str:
        """Draw the permanent report once, write it down, send it until the server has it.

        Parameters
        ----------
        record
            One's own record; it is read here and goes nowhere.

        Returns
        -------
        ``sent``, ``wait`` (one's round has no question yet), ``closed`` or ``unreachable``. Nothing
        is drawn while the server does not say that an invitation is good and was not used.
        """
        campaign, name = self.campaign()
        with self.notebook.pages() as pages:
            token = self._own_token(pages, campaign, name)
            key = key_of(token, name)
            place = _place(name.hex(), key)
            number = round_of(name, key, [one["share"] for one in campaign["rounds"]])
            if place not in pages["entries"]:
                self._check_price(pages["entries"], place, campaign["name"], campaign["epsilon"])
                question = self._question(campaign, name, number)
                if question is None:
                    return "wait"
                hindrance = self._check_invitation(campaign, name, key)
                if hindrance is not None:
                    return hindrance
                if question["mechanism"] == "cell_shares":
                    report: Any = [part.hex() for part in split(question, record)]
                else:
                    report = draw(question, record, WordStream())
                _keep(pages, place, campaign["name"], campaign["epsilon"], token, report)
            entry = pages["entries"][place]
        if entry["sent"]:
            return "sent"
        if campaign["setting"] == "two_aggregators":
            bodies = _share_bodies(campaign, name, key, entry["report"])
        else:
            body = batch_of(name, number, [(key, entry["report"])])
            bodies = [(self.address + "/v1/reports", body)]
        return self._deliver(bodies, campaign["closes"], place)

    def label(self, record: Any) -> int:
        """Return the group of one's own record by the published model; nothing is sent.

        Groups are often published once the campaign has closed, so it may be.
        """
        campaign, name = self.campaign(must_be_open=False)
        model, _ = self._document("/v1/model", "model")
        _check_names(model, _MODEL, "model", {"errors"})
        need(model["campaign"] == name.hex(), "The model is another's.")
        question = campaign["rounds"][0]["question"]
        d = len(question.get("columns", ()))
        for line in _lists([*_lists(model["centers"], d), model["units"]], d):
            for value in line:
                _finite(value)
        need(all(float(unit) > 0 for unit in model["units"]), "The model's units are wrong.")
        return label(model, record, question)

    def send_label(self, record: Any) -> str:
        """Send the randomised group of one's own record, where the campaign pays for it."""
        campaign, name = self.campaign()
        need("labels" in campaign, "The campaign does not ask for labels.")
        epsilon = campaign["labels"]["epsilon"]
        group, k = self.label(record), campaign["n_clusters"]
        oracle = {"name": "randomized_response", "size": k}
        question = {"mechanism": "category", "epsilon": epsilon, "oracle": oracle}
        check_question(question, exact(epsilon))
        cost = exact(campaign["epsilon"]) + exact(epsilon)
        need(cost <= Fraction(self.limits.epsilon), "Its label costs more than you allow it.")
        with self.notebook.pages() as pages:
            token = self._own_token(pages, campaign, name)
            place = f"{_place(name.hex(), key_of(token, name))}/label"
            if place not in pages["entries"]:
                self._check_price(pages["entries"], place, campaign["name"], epsilon)
                report = draw(question, group, WordStream())
                _keep(pages, place, campaign["name"], epsilon, token, report)
            report = pages["entries"][place]["report"]
        body = batch_of(name, LABEL_ROUND, [(key_of(token, name, "label"), report)])
        return self._deliver([(self.address + "/v1/reports", body)], campaign["closes"], place)

    def _document(self, path: str, kind: str) -> tuple[Document, bytes]:
        status, body, _ = self.send(self.address + path)
        need(status == 200, f"The server gave no {kind}.")
        return open_envelope(_parse(body), kind, self.key)

    def _question(self, campaign: Document, name: bytes, number: int) -> Document | None:
        question: Any = campaign["rounds"][number]["question"]
        if question != "later":
            return question  # type: ignore[no-any-return]
        if self.send(f"{self.address}/v1/round/{number}")[0] == 404:
            return None
        later, _ = self._document(f"/v1/round/{number}", "round")
        _check_names(later, _ROUND, "round")
        own = later["campaign"] == name.hex() and later["round"] == number
        need(own, "The round is another's.")
        need(_is_hex(later["before"]), "The round does not say what it was learnt from.")
        check_question(later["question"], exact(campaign["epsilon"]))
        fits = later["question"]["mechanism"] not in ("cell_shares", "nd_laplace")
        need(fits, "The question does not fit the campaign's setting.")
        return later["question"]  # type: ignore[no-any-return]

    def _own_token(self, pages: Document, campaign: Document, name: bytes) -> bytes:
        """Return the token of the person who takes part now."""
        if self.token:
            return self.token
        if campaign["enrolment"] == "open":
            return bytes.fromhex(pages["token"])
        entries = pages["entries"].items()
        used = {e["token"] for at, e in entries if at[:32] == name.hex() and not e.get("refused")}
        need(len(used) == 1, "This campaign takes invited people only: use your own invitation.")
        return bytes.fromhex(used.pop())

    def _check_price(self, entries: Document, place: str, name: str, epsilon: str) -> None:
        """Refuse what costs the person too much, before anything is drawn."""
        twin = [p for p, e in entries.items() if e["name"] == name and p[:32] != place[:32]]
        need(not twin, "Another campaign of this name was answered before.")
        # Keys of this campaign that its server did not know may be this very person's.
        here = {at: e for at, e in entries.items() if at[:32] == place[:32]}
        allowed = _spent(here, place) + Fraction(epsilon) <= Fraction(self.limits.epsilon)
        need(allowed, "It costs more than you allow one campaign, with refused invitations.")
        affordable = _spent(entries, place) + Fraction(epsilon) <= Fraction(self.limits.ceiling)
        need(affordable, "It would cost more than you allow in all.")

    def _check_invitation(self, campaign: Document, name: bytes, key: bytes) -> str | None:
        """Return what keeps a key from reporting, before a report is drawn; None if nothing."""
        if campaign["enrolment"] == "open":
            return None
        status, body, _ = self.send(f"{self.address}/v1/invitations", invitation_of(name, key))
        need(status != 401, _UNKNOWN_INVITATION)
        answer = _parse(body) if status == 200 else None
        is_used = answer.get("used") if isinstance(answer, dict) else None
        need(is_used is not True, "This invitation was used before, on another device.")
        return None if is_used is False else _RESULTS.get(status, "unreachable")

    def _deliver(self, bodies: list[tuple[str, bytes]], closes: str, place: str) -> str:
        """Send every body until it is acknowledged, and write that down."""
        for url, body in bodies:
            result = self._send_until(url, body, closes)
            if result != "sent":
                break
        with self.notebook.pages() as pages:
            entry = pages["entries"][place]
            if result == "sent":
                entry["sent"] = True
                entry.pop("refused", None)
            if result == "refused":
                entry["refused"] = True
            elif (
                result == "sent" and len(bodies) > 1
            ):  # two shares side by side are the cell itself
                entry["report"] = []
        need(result != "refused", _UNKNOWN_INVITATION)
        return result

    def _send_until(self, url: str, body: bytes, closes: str) -> str:
        """Send the same bytes until they are acknowledged, waiting longer each time."""
        wait, status = 1.0, 0
        while _now() <= closes and wait < 600:
            status, _, after = self.send(url, body)
            if status == 200:
                return "sent"
            if status not in _AGAIN:
                break
            self.pause(max(wait, _seconds(after)) * (1 + WordStream().below(1000) / 2000))
            wait = min(2 * wait, 300) if wait < 300 else 600
        need(status in (401, 409, 410, *_AGAIN), "The server refused the report.")
        return _RESULTS.get(status, "unreachable")


_AGAIN = (0, 408, 429, 500, 502, 503, 504)  # answers after which the same bytes are sent again
_RESULTS = {401: "refused", 409: "wait", 410: "closed"}  # what these answers say to a person
_UNKNOWN_INVITATION = "The server does not know this invitation: check that the link is whole."


def _keep(pages: Document, place: str, name: str, epsilon: str, token: bytes, report: Any) -> None:
    """Write down a report that was just drawn, and what it costs."""
    entry = {"name": name, "epsilon": epsilon, "token": token.hex(), "sent": False}
    pages["entries"][place] = entry | {"report": report}


def _share_bodies(
    campaign: Document, name: bytes, key: bytes, report: list[str]
) -> list[tuple[str, bytes]]:
    """Return where each of the two shares goes, and the body that carries it."""
    seed, share = map(bytes.fromhex, report)
    urls = [one["address"].rstrip("/") + "/v1/shares" for one in campaign["aggregators"]]
    contents = [seed, tag_of(seed) + share]
    bodies = [share_batch_of(name, i, [(key, contents[i])]) for i in (0, 1)]
    return list(zip(urls, bodies, strict=True))


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
