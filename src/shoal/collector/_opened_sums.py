"""Open the sums of two aggregators over their databases, and learn groups from both openings.

    each:   people of its own ─► the other        (signed list; no more shares are taken)
    each:   people of both ─► noisy sum, once ─► signed opening ─► public
    anyone: two openings ─► counts of cells ─► groups

Opened again, a database gives the same bytes: the noise is drawn once, and shares are deleted in
the transaction that keeps the opening. See ``aggregators.proof.md``.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from shoal.arrays import Floats, Integers, nearest_centers
from shoal.collector import client
from shoal.collector._aggregators import (
    WordVector,
    combine_openings,
    count_deviation,
    noisy_sum,
    words_of_seed,
    words_of_share,
)
from shoal.collector._campaign import Campaign, box_of, sign_document
from shoal.collector._centers_from_counts import centers_of_counts, scatter_of_centers
from shoal.collector._storage import Store
from shoal.domain import Grid
from shoal.errors import InvalidSetting, TooFewRows
from shoal.privacy import Ledger, PureDP, exact_budget
from shoal.randomness import Randomness, Seed

Envelope = dict[str, Any]
_HEAD = {"format", "type", "campaign", "aggregator"}
_NAMES = {"people": _HEAD | {"people"}, "opening": _HEAD | {"people", "digest", "sums"}}


def place_of_key(campaign: Campaign, private: Any) -> int:
    """Return which of a campaign's two aggregators holds a key: 0 or 1."""
    public = private.public_key().public_bytes_raw().hex()
    keys = [one["key"] for one in campaign.aggregators]
    if public not in keys:
        raise InvalidSetting(
            "The key is of neither of the campaign's two aggregators.",
            "Give the private key whose public half stands in the campaign under aggregators.",
        )
    return keys.index(public)


def list_people(campaign: Campaign, store: Store, private: Any) -> Envelope:
    """Take no more shares; return the signed list of whose shares are here, for the other one.

    Parameters
    ----------
    campaign
        One with two aggregators.
    store
        This aggregator's database.
    private
        This aggregator's private key.
    """
    place = place_of_key(campaign, private)
    store.close_round(0)
    people = [person.hex() for person, _ in _shares(store, place)]
    return sign_document("people", _document("people", campaign, place, people=people), private)


def open_sums(
    campaign: Campaign,
    store: Store,
    private: Any,
    others: object,
    *,
    ledger: Ledger | None = None,
    random_state: Seed = None,
) -> Envelope:
    """Return the signed noisy sum of the shares of those whom both aggregators have.

    Parameters
    ----------
    campaign
        One with two aggregators.
    store
        This aggregator's database.
    private
        This aggregator's private key.
    others
        The other aggregator's signed list of people.
    ledger
        Where the promise is recorded; None keeps no record.
    random_state
        A seed makes a simulation, kept like a real opening: for made-up people only. None draws
        real noise.

    Raises
    ------
    TooFewRows
        If both have fewer people than the campaign needs; nothing is opened.
    """
    place = place_of_key(campaign, private)
    before = store.documents().get(("opening", 0))
    if before is not None:
        return before
    there = {str(p) for p in _read(campaign, others, "people", 1 - place)["people"]}
    store.close_round(0)
    common = {person for person, _ in _shares(store, place) if person.hex() in there}
    least = campaign.document["n_least"]
    if len(common) < least:
        raise TooFewRows(
            f"{len(common)} people took part at both aggregators; {least} are needed.",
            "With fewer, the campaign opens nothing.",
        )
    cells = _cells(campaign)
    shares = (_vector(c, place, cells) for person, c in _shares(store, place) if person in common)
    promise = PureDP(exact_budget(campaign.document["epsilon"]), neighbours="replace-one")
    sums = noisy_sum(shares, cells, promise, ledger, Randomness(random_state))
    content = {
        "people": len(common),
        "digest": hashlib.sha256(b"".join(sorted(common))).hexdigest(),
        "sums": sums.astype(">u8").tobytes().hex(),
    }
    document = _document("opening", campaign, place, **content)
    return store.keep_opening(sign_document("opening", document, private))


def _cells(campaign: Campaign) -> int:
    return int(np.prod(campaign.document["rounds"][0]["question"]["cells"]))


def _shares(store: Store, place: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield id and share of everybody; a tag is part of the id, so that only true pairs match."""
    for who, content in store.shares():
        if place == 0:
            yield who + client.tag_of(content), content
        else:
            yield who + content[:16], content[16:]


def _vector(share: bytes, place: int, cells: int) -> WordVector:
    return words_of_share(share) if place else words_of_seed(share, cells)


def _document(kind: str, campaign: Campaign, place: int, **content: Any) -> dict[str, Any]:
    head = {"format": 1, "type": kind, "campaign": campaign.id.hex(), "aggregator": place}
    return head | content


def _read(campaign: Campaign, envelope: object, kind: str, place: int) -> dict[str, Any]:
    """Return a document that one of the two aggregators signed for this campaign."""
    try:
        key = bytes.fromhex(campaign.aggregators[place]["key"])
        document, _ = client.open_envelope(envelope, kind, key)
        own = document["campaign"] == campaign.id.hex() and document["aggregator"] == place
        good = own and set(document) == _NAMES[kind]
    except (client.Refused, KeyError, IndexError):
        good = False
    if not good:
        raise InvalidSetting(
            f"This is no {kind} that aggregator {place + 1} signed for this campaign.",
            f"Ask aggregator {place + 1} for the file, or check the order of the two.",
        )
    return document


# ---- what both openings tell


class OpenedCounts(NamedTuple):
    """Noisy counts of cells from two openings.

    Parameters
    ----------
    counts
        Of each cell, in the order of a grid's keys.
    """

    counts: Integers
    people: int
    deviation: float


def add_openings(campaign: Campaign, openings: Sequence[object]) -> OpenedCounts:
    """Return the counts that two signed openings add up to.

    Parameters
    ----------
    campaign
        One with two aggregators.
    openings
        Of the first, and of the second.
    """
    first, second = (
        _read(campaign, envelope, "opening", place)
        for place, envelope in zip((0, 1), openings, strict=True)
    )
    if any(first[name] != second[name] for name in ("people", "digest")):
        raise InvalidSetting(
            "The two aggregators opened the shares of different people.",
            "Their sums do not belong together: no counts can be had from them.",
        )
    size = 8 * _cells(campaign)
    sums = [bytes.fromhex(one["sums"]) for one in (first, second)]
    if any(len(content) != size for content in sums):
        raise InvalidSetting(
            f"An opening does not hold {size} bytes of sums.", "Open it with this version of shoal."
        )
    deviation = count_deviation(campaign.document["epsilon"])
    return OpenedCounts(combine_openings(*map(words_of_share, sums)), first["people"], deviation)


def are_distinct(campaign: Campaign, opened: OpenedCounts, centers: Floats) -> bool:
    """Return whether any group has more people than noise alone would count about its centre.

    At the level of central releases, 1 in 1,000 for all groups: docs/decisions/certain-groups.md.

    Parameters
    ----------
    campaign
        The campaign, whose question says which cells were counted.
    opened
        The noisy counts of both aggregators, added.
    centers
        The centres of the groups, in the box's own units.
    """
    from shoal.cluster import CHANCE, NoiseSum

    box, shape = box_of(campaign.document), campaign.document["rounds"][0]["question"]["cells"]
    middles = Grid(box, tuple(shape)).centers()
    labels = nearest_centers(box.scale(middles), box.scale(centers))
    counts = np.bincount(labels, opened.counts, len(centers))
    half = float(exact_budget(campaign.document["epsilon"])) / 2
    # Two noises in each cell: one of each aggregator.
    noises = [
        NoiseSum.geometric(half, 2.0 * cells) for cells in np.bincount(labels, None, len(centers))
    ]
    level = CHANCE / len(centers)
    pairs = zip(counts, noises, strict=True)
    return any(count > noise.reach(level) for count, noise in pairs if noise.variance)


def centers_of_openings(
    campaign: Campaign, opened: OpenedCounts, rng: Randomness, runs: int = 10
) -> tuple[Floats, Floats]:
    """Return centres learnt from opened counts, and how far each coordinate scatters.

    Parameters
    ----------
    campaign
        One with two aggregators.
    opened
        The counts.
    rng
        The seeds of the starts, and the draws of the scatter.
    runs
        How often counts are drawn anew for the scatter.
    """
    box, n = box_of(campaign.document), opened.people
    shape = tuple(campaign.document["rounds"][0]["question"]["cells"])
    k = campaign.document["n_clusters"]

    def learn(counts: Floats) -> Floats:
        return centers_of_counts(counts, box, shape, opened.deviation, n, k, rng)

    def draw_again() -> Floats:
        masses = np.maximum(opened.counts, 0) + 1e-9
        counts = rng.compute.multinomial(n, masses / masses.sum())
        return learn(counts + rng.compute.normal(0, opened.deviation, counts.size))

    centers = learn(opened.counts.astype(np.float64))
    return centers, scatter_of_centers(centers, box, draw_again, runs)
