"""Two aggregators add up secret shares of people's cells; neither learns anything alone.

    client: one-hot cell v ─► seed (first aggregator), v - pad(seed) mod 2^64 (second)
    each:   adds its shares ─► adds noise of the full law ─► opens once
    anyone: adds the two openings ─► counts of cells, epsilon-DP if either aggregator is honest

There is no proof that a share is well formed: one malformed vector spoils the sums, though no
promise. It is not the protocol of the IETF (DAP, Prio). See ``aggregators.proof.md``.
"""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.collector.client import pad_of
from shoal.errors import InvalidSetting, TooFewRows
from shoal.mechanisms import Geometric
from shoal.privacy import Ledger, PureDP
from shoal.privacy.exact import Number, exact_budget
from shoal.randomness import Randomness, Seed

__all__ = ["Aggregator", "combine_openings", "count_deviation"]

MOST_CELLS = 1_024
WordVector = NDArray[np.uint64]


class Aggregator:
    r"""One of two servers: adds shares, and opens their noisy sum once.

    Guarantee
    ---------
    :math:`\varepsilon`-DP when one person's record is replaced, against either aggregator together
    with what is opened, if the other one is honest. See ``aggregators.proof.md``.

    Parameters
    ----------
    cells
        How many cells there are; at most 1,024.
    epsilon
        The promise of the opening.
    n_least
        The number of people without which nothing is opened.
    ledger
        Where the promise is recorded; None keeps no record.
    random_state
        A seed makes a simulation; None draws real noise.
    """

    def __init__(
        self,
        cells: int,
        *,
        epsilon: Number,
        n_least: int = 1,
        ledger: Ledger | None = None,
        random_state: Seed = None,
    ) -> None:
        if not 1 <= cells <= MOST_CELLS:
            raise InvalidSetting.of("cells", f"must be from 1 to {MOST_CELLS}", 256, cells)
        self.cells, self.n_least = cells, n_least
        self._promise = PureDP(exact_budget(epsilon), neighbours="replace-one")
        self._ledger, self._rng = ledger, Randomness(random_state)
        self._people: set[bytes] = set()
        self._sum: WordVector = np.zeros(cells, dtype=np.uint64)
        self._opening: WordVector | None = None

    def add_seed(self, person: bytes, seed: bytes) -> bool:
        """Add the first aggregator's share; return whether the person is new.

        Parameters
        ----------
        person
            The id under which both aggregators know this person.
        seed
            32 random bytes of the client.
        """
        if len(seed) != 32:
            raise InvalidSetting("A seed has 32 bytes.", "Send it as it was drawn.")
        return self._add(person, np.array(pad_of(seed, self.cells), dtype=np.uint64))

    def add_share(self, person: bytes, share: bytes) -> bool:
        """Add the second aggregator's share; return whether the person is new.

        Parameters
        ----------
        person
            The id under which both aggregators know this person.
        share
            What ``client.share_of`` returned.
        """
        if len(share) != 8 * self.cells:
            raise InvalidSetting(
                f"A share has 8 bytes for each of {self.cells} cells.", "Send it as it was made."
            )
        return self._add(person, np.frombuffer(share, dtype=">u8").astype(np.uint64))

    def _add(self, person: bytes, share: WordVector) -> bool:
        if self._opening is not None:
            raise InvalidSetting("The sums were opened already.", "Begin a new epoch.")
        if person in self._people:
            return False
        self._people.add(person)
        self._sum = self._sum + share  # modulo 2^64
        return True

    @property
    def people(self) -> int:
        """How many shares were added."""
        return len(self._people)

    def digest(self) -> str:
        """Return a hash of who took part, for the two to compare before they open."""
        return hashlib.sha256(b"".join(sorted(self._people))).hexdigest()

    def open(self, others: str) -> WordVector:
        """Return the sum of the shares with noise; asked again, the same one.

        Parameters
        ----------
        others
            The other aggregator's ``digest()``.

        Raises
        ------
        InvalidSetting
            If the two have shares of different people: their sum would be garbage.
        TooFewRows
            If there are fewer than ``n_least`` people.
        """
        if others != self.digest():
            raise InvalidSetting(
                "The two aggregators have shares of different people.",
                "Drop whoever is missing at one of them, at both, and begin a new epoch.",
            )
        if self.people < self.n_least:
            raise TooFewRows(
                f"{self.people} people took part; {self.n_least} are needed.", "Wait for more."
            )
        if self._opening is None:
            page = Ledger.of(self._ledger).open(self._promise, by="Aggregator")
            noise = Geometric(page.budget, sensitivity=1)  # [P1]
            # Drawn around 0 and added modulo 2^64 here: the mechanism would clip the sum.
            zeros = np.zeros(self.cells, dtype=np.int64)
            drawn: Any = page.release(noise, zeros, self._rng.noise, of="sums of shares")
            self._opening = self._sum + drawn.astype(np.uint64)  # [P2]
        return self._opening


def combine_openings(first: WordVector, second: WordVector) -> NDArray[np.int64]:
    """Return the noisy counts of cells from what both aggregators opened.

    Parameters
    ----------
    first
        Of one.
    second
        Of the other.
    """
    return (first + second).astype(np.int64)  # [P3]


def count_deviation(epsilon: Number) -> float:
    """Return the standard deviation of a count with both noises.

    Parameters
    ----------
    epsilon
        The promise of the openings.

    Examples
    --------
    >>> round(count_deviation(1), 2)
    3.96
    """
    half = float(exact_budget(epsilon)) / 2
    return float(2 * np.exp(-half / 2) / -np.expm1(-half))
