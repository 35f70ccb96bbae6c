"""Writes src/shoal/collector/vectors.json: what the client and every port of it must reproduce.

The reports are the Python client's own. Two others check them: the NumPy mechanisms, which read the
same words (tests/collector/test_client_agreement.py), and the JavaScript twin. Vectors made by
another implementation are beside those tests.
"""

import hashlib
import json
import math
import sys
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoal.collector import client
from shoal.mechanisms.local.categories._local_hash import LocalHash

EPSILONS = ("0.000000001", "0.1", "0.5", "1", "2", "3.7", "8", "20")
SIZES = (2, 3, 9, 144, 4096)
BOUNDS = [["0", "1"], ["-3.5", "110"]]
LARGEST = 1.7976931348623157e308
ORDER = 2**252 + 27742317777372353535851937790883648493
PLACE = Path(__file__).parents[1] / "src/shoal/collector/vectors.json"


def oracles(epsilon: str, size: int) -> list[dict[str, Any]]:
    """Both oracles over so many codes."""
    hashing = LocalHash(float(epsilon), size)
    return [
        {"name": "randomized_response", "size": size},
        {
            "name": "local_hash",
            "buckets": hashing.buckets,
            "digits": hashing.digits,
            "size": size,
        },
    ]


def stream(*name: object) -> bytes:
    """64 bytes that look random and are the same in every run."""
    return hashlib.sha512(repr(name).encode()).digest()


def vector(question: dict[str, Any], record: Any, random: bytes) -> dict[str, Any]:
    """One vector: the report that the client draws from these bytes."""
    words = client.WordStream(random)
    report = client.draw(question, record, words)
    columns = len(question["columns"]) if question["mechanism"] == "residual_sign" else 1
    return {
        "question": question,
        "record": record,
        "random": random.hex(),
        "consumed": words.consumed,
        "report": report,
        "codes": columns * client.codes_of(question),
    }


def category_vectors() -> list[dict[str, Any]]:
    """Every oracle, epsilon and size, with words on both sides of the threshold."""
    vectors = []
    for epsilon in EPSILONS:
        for size in SIZES:
            for oracle in oracles(epsilon, size):
                question = {"mechanism": "category", "epsilon": epsilon, "oracle": oracle}
                hashing = oracle["name"] == "local_hash"
                limit = client.keep_threshold(epsilon, oracle["buckets"] if hashing else size)
                for word in {limit - 1, limit, limit + 1, 0, 2**64 - 1}:
                    if word >= 2**64:
                        continue
                    head = stream(epsilon, size, word)[:8] if hashing else b""
                    rest = stream(epsilon, size, word, "rest")[:16]
                    random = head + word.to_bytes(8, "big") + rest
                    vectors.append(vector(question, size - 1 - word % 2, random))
    return sorted(vectors, key=json.dumps)


def rejection_vectors() -> list[dict[str, Any]]:
    """Words that a draw must throw away, because a remainder would be too likely."""
    vectors, high = [], b"\xff" * 8
    for size in (4, 10, 144):  # below(size - 1): 2^64 is no multiple of 3, 9 or 143
        question = {
            "mechanism": "category",
            "epsilon": "0.1",
            "oracle": {"name": "randomized_response", "size": size},
        }
        last = 2**64 - 2**64 % (size - 1)
        for word in (last, last - 1, 2**64 - 1):
            random = high + word.to_bytes(8, "big") + stream(size, word)[:16]
            vectors.append(vector(question, 1, random))
    question = {"mechanism": "category", "epsilon": "1", "oracle": oracles("1", 144)[1]}
    vectors.append(vector(question, 143, high * 2 + stream("hash")[:32]))
    return vectors


def numeric_vectors() -> list[dict[str, Any]]:
    """Records at bounds, outside, no numbers, denormal, beside the edges of cells."""
    grid = {
        "mechanism": "local_grid",
        "epsilon": "1",
        "columns": BOUNDS,
        "cells": [15, 15],
        "oracle": oracles("1", 225)[1],
    }
    few = {**grid, "epsilon": "3.7", "cells": [3, 2], "oracle": oracles("3.7", 6)[0]}
    sides = {
        "mechanism": "residual_sign",
        "epsilon": "2",
        "columns": BOUNDS,
        "centers": [["0.25", "30"], ["0.5", "20"], ["0.75", "100.25"]],
        "reach": "0.13333333333333333",
        "oracle": oracles("2", 6)[0],
    }
    numbers = [0, 1, -1, 2, 0.5, None, True, False, 5e-324, -5e-324, LARGEST, -LARGEST, 110, -3.5]
    numbers += [1 / 15, 0.06666666666666665, 0.9999999999999999, 0.3333333333333333, 4.066666666]
    vectors = []
    for i, x in enumerate(numbers):
        for question in (grid, few, sides):
            record = [x, numbers[-1 - i]]
            vectors.append(vector(question, record, stream(i, question["mechanism"])))
    tie = {**sides, "reach": "1", "columns": [["0", "1"], ["0", "1"]], "oracle": oracles("2", 2)[0]}
    tie["centers"] = [["0.5", "0.5"]]
    # Half a step: 2^-21 beside the centre must round to even, up and down.
    for x in (0.5 + 2**-21, 0.5 - 2**-21, 0.5 + 3 * 2**-21, 0.5):
        for word in (2**19 - 1, 2**19, 2**19 + 1, 2**19 + 2):
            random = bytes(8) + word.to_bytes(8, "big") + bytes(16)
            vectors.append(vector(tie, [x, 0.25], random))
    return vectors


class EdgeStream(client.WordStream):
    """Words of a given stream, but where a coin compares with a root: the word at its very edge."""

    def __init__(self, source: bytes) -> None:
        super().__init__(source)
        self.read = b""
        self.edge: int | None = None

    def word(self) -> int:
        """Return the next word, or the one at the edge, which takes a second to decide."""
        word = super().word()
        word, self.edge = (word if self.edge is None else self.edge), None
        self.read += word.to_bytes(8, "big")
        return word


def edge_words(question: dict[str, Any], record: Any, random: bytes) -> bytes:
    """The words of a draw whose coins are all undecided after 64 bits."""
    words, decide = EdgeStream(random), client._is_below_root

    def at_the_edge(j: int, square: int, rest: int, stream: Any) -> bool:
        stream.edge = (math.isqrt(square) - rest) // j % 2**64
        return decide(j, square, rest, stream)

    client._is_below_root = at_the_edge
    try:
        client.draw(question, record, words)
    finally:
        client._is_below_root = decide
    return words.read


def lattice_vectors() -> list[dict[str, Any]]:
    """Fine and coarse lattices in one to seven columns, records of every kind, edges of coins."""
    vectors = []
    numbers: list[Any] = [0, 20, 3.7, -1, 21, None, True, 5e-324, LARGEST, -LARGEST, 0.5 + 2**-24]
    cases = [(d, level, radius, bits) for d in (1, 2, 3, 7) for level, radius, bits in (
        ("1", "0.2", 23), ("2", "1.5", 20), ("0.000001", "0.001", 3), ("3", "1", 0),
        ("20", "50", -1), ("0.1", "100000000", -8))]  # fmt: skip
    for i, (d, level, radius, bits) in enumerate(cases):
        question = {
            "mechanism": "nd_laplace",
            "epsilon": level,
            "columns": [["0", "20"], ["-3.5", "110"]][:d] + [["0", "1"]] * (d - 2),
            "radius": radius,
            "unit": "km",
            "units": ["1", "0.015384615384615385"][:d] + ["2.5"] * (d - 2),
            "step_bits": bits,
        }
        client.check_question(question, client.exact(level))
        for n in range(3):
            record = [numbers[(i + n + j) % len(numbers)] for j in range(d)]
            random = b"".join(stream("lattice", i, n, block) for block in range(400))
            random = edge_words(question, record, random) if n == 2 else random
            words = client.WordStream(random)
            report = client.draw(question, record, words)
            used = {"random": random[: words.consumed].hex(), "consumed": words.consumed}
            vectors.append({"question": question, "record": record, **used, "report": report})
    return vectors


def signature_vectors() -> list[dict[str, Any]]:
    """A good signature, and every way to spoil it that a port may let pass."""
    private = Ed25519PrivateKey.from_private_bytes(stream("key")[:32])
    public = private.public_key().public_bytes_raw()
    message = b'shoal.campaign.1\n{"name":"a walk"}'
    good = private.sign(message)
    s = int.from_bytes(good[32:], "little")
    cases = {
        "good": (public, message, good),
        "s_plus_order": (public, message, good[:32] + (s + ORDER).to_bytes(32, "little")),
        "flipped_bit": (public, message, bytes([good[0] ^ 1]) + good[1:]),
        "other_message": (public, message + b" ", good),
        "other_kind": (public, message.replace(b"campaign", b"round"), good),
        "large_y_of_key": ((2**255 - 18).to_bytes(32, "little"), message, bytes(64)),
        "large_y_of_r": (public, message, (2**255 - 18).to_bytes(32, "little") + good[32:]),
        "short": (public, message, good[:63]),
    }
    names = ("public", "message", "signature")
    return [
        {"name": name, **{n: part.hex() for n, part in zip(names, case, strict=True)}}
        | {"valid": name == "good"}
        for name, case in cases.items()
    ]


def document() -> dict[str, Any]:
    """All of it."""
    campaign, token = stream("campaign")[:16], stream("token")[:32]
    shares = [2**31, 2**30, 2**30]
    key = client.key_of(token, campaign)
    written = {"name": 'a "walk"\n', "list": [1, -7, True, {"b": "ü\x7f😀"}], "a": 2**53 - 1}
    payload = client.canonical(written)
    keys = [stream("person", i)[:16] for i in range(20)]
    return {
        "format": 1,
        "vectors": category_vectors() + rejection_vectors() + numeric_vectors(),
        "lattice": lattice_vectors(),
        "thresholds": [
            [epsilon, k, str(client.keep_threshold(epsilon, k))]
            for epsilon in (*EPSILONS, "1.0", "0.50")
            for k in (2, 3, 9, 144, 65536, 2**24)
        ],
        "key": {
            "token": token.hex(),
            "campaign": campaign.hex(),
            "key": key.hex(),
            "label": client.key_of(token, campaign, "label").hex(),
            "shares": shares,
            "round": client.round_of(campaign, key, shares),
        },
        "rounds": [[k.hex(), client.round_of(campaign, k, shares)] for k in keys],
        "canonical": [
            [written, payload.decode(), client.identity("campaign", payload).hex()],
        ],
        "batch": {
            "round": 2,
            "reports": [[key.hex(), 7], [keys[0].hex(), 2**32 - 1]],
            "body": client.batch_of(campaign, 2, [(key, 7), (keys[0], 2**32 - 1)]).hex(),
        },
        "lattice_batch": {
            "round": 0,
            "reports": [[key.hex(), [7, -1]], [keys[0].hex(), [2**53 - 1, 1 - 2**53]]],
            "body": client.batch_of(
                campaign, 0, [(key, [7, -1]), (keys[0], [2**53 - 1, 1 - 2**53])]
            ).hex(),
        },
        "ed25519": signature_vectors(),
        "shares": [
            {
                "cell": cell,
                "cells": cells,
                "seed": stream("seed", cell)[:32].hex(),
                "share": client.share_of(cell, cells, stream("seed", cell)[:32]).hex(),
                "tag": client.tag_of(stream("seed", cell)[:32]).hex(),
            }
            for cell, cells in ((0, 1), (3, 5), (8, 9), (1023, 1024))
        ],
        "share_batch": {
            "aggregator": 1,
            "shares": [[key.hex(), stream("seed", 0)[:24].hex()]],
            "body": client.share_batch_of(campaign, 1, [(key, stream("seed", 0)[:24])]).hex(),
        },
        "labels": [
            {"centers": [["0", "0"], ["1", "50"]], "units": ["1", "60"], "record": [x, y]}
            | {"columns": BOUNDS, "label": expected}
            for x, y, expected in ((0.1, 3, 0), (0.9, 60, 1), (None, 25, 0), (7, 9999, 1))
        ],
    }


if __name__ == "__main__":
    text = json.dumps(document(), separators=(",", ":"), ensure_ascii=True)
    PLACE.write_text(text.replace('{"question"', '\n{"question"') + "\n")
    sys.stdout.write(f"{PLACE.name}: {len(json.loads(text)['vectors'])} vectors\n")
