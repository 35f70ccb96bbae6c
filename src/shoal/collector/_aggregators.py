"""Two aggregators add up secret shares of people's cells; neither learns anything alone.

    client: one-hot cell v ─► seed (first aggregator), v - pad(seed) mod 2^64 (second)
    each:   adds its shares ─► adds noise of the full law ─► opens once
    anyone: adds the two openings ─► counts of cells, epsilon-DP if either aggregator is honest

There is no proof that a share is well formed: one malformed vector spoils the sums, though no
promise. It is not the protocol of the IETF (DAP, Prio). See ``aggregators.proof.md``. Over the wire
and in a database the same sums are opened by ``openings``.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Integers
from shoal.collector.client import MOST_SHARED_CELLS, pad_of
from shoal.errors import InvalidSetting, TooFewRows
from shoal.mechanisms import Geometric
from shoal.privacy import Ledger, Number, PureDP, exact_budget
from shoal.randomness import Randomness, Seed

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
        How many cells there are; at most 1,024, and not 4.
    n_least
        The number of people at both without which nothing is opened.
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
        if not 1 <= cells <= MOST_SHARED_CELLS or cells == 4:  # 4 words are as long as a seed
            raise InvalidSetting.of(
                "cells", f"must be from 1 to {MOST_SHARED_CELLS}, and not 4", 256, cells
            )
        self.cells, self.n_least = cells, n_least
        self._promise = PureDP(exact_budget(epsilon), neighbours="replace-one")
        self._ledger, self._rng = ledger, Randomness(random_state)
        self._shares: dict[bytes, bytes] = {}
        self._opening: tuple[frozenset[bytes], WordVector] | None = None

    def add_seed(self, person: bytes, seed: bytes) -> bool:
        """Take the first aggregator's share; return whether the person is new.

        Parameters
        ----------
        seed
            32 random bytes of the client.
        """
        if len(seed) != 32:
            raise InvalidSetting("A seed has 32 bytes.", "Send it as it was drawn.")
        return self._add(person, seed)

    def add_share(self, person: bytes, share: bytes) -> bool:
        """Take the second aggregator's share; return whether the person is new.

        Parameters
        ----------
        share
            What ``client.share_of`` returned.
        """
        if len(share) != 8 * self.cells or len(share) == 32:
            raise InvalidSetting(
                f"A share has 8 bytes for each of {self.cells} cells.", "Send it as it was made."
            )
        return self._add(person, share)

    def _add(self, person: bytes, share: bytes) -> bool:
        if self._opening is not None:
            raise InvalidSetting("The sums were opened already.", "Begin a new epoch.")
        if person in self._shares:
            return False
        self._shares[person] = share
        return True

    @property
    def people(self) -> frozenset[bytes]:
        """The ids of those whose shares are here, for the other aggregator to compare."""
        return frozenset(self._shares)

    def open(self, others: Iterable[bytes]) -> WordVector:
        """Return the noisy sum of the shares of those whom both have; asked again, the same one.

        Parameters
        ----------
        others
            The other aggregator's ``people``. Who is missing at one of the two is left out.

        Raises
        ------
        TooFewRows
            If both have fewer than ``n_least`` people.
        InvalidSetting
            If the sums were opened for other people: a second opening would be a second release.
        """
        common = self.people & frozenset(others) if self._opening is None else frozenset(others)
        if self._opening is None:
            self._opening = common, self._release(common)
        elif not self._opening[0] <= common:
            raise InvalidSetting(
                "The sums were opened for other people already.", "Begin a new epoch."
            )
        return self._opening[1]

    def _release(self, common: frozenset[bytes]) -> WordVector:
        if len(common) < self.n_least:
            raise TooFewRows(
                f"{len(common)} people took part at both; {self.n_least} are needed.",
                "Wait for more.",
            )
        shares = [self._vector(self._shares[person]) for person in common]
        opened = noisy_sum(shares, self.cells, self._promise, self._ledger, self._rng)
        self._shares.clear()
        return opened

    def _vector(self, share: bytes) -> WordVector:
        return words_of_seed(share, self.cells) if len(share) == 32 else words_of_share(share)


def words_of_seed(seed: bytes, cells: int) -> WordVector:
    """Return the words of the first aggregator's share."""
    return words_of_share(pad_of(seed, cells))


def words_of_share(share: bytes) -> WordVector:
    """Return the words of the second aggregator's share.

    Parameters
    ----------
    share
        What ``client.share_of`` returned.
    """
    return np.frombuffer(share, dtype=">u8").astype(np.uint64)


def noisy_sum(
    shares: Iterable[WordVector],
    cells: int,
    promise: PureDP,
    ledger: Ledger | None,
    rng: Randomness,
) -> WordVector:
    """Return the sum of shares modulo 2^64 with noise of the full law: what an aggregator opens.

    Parameters
    ----------
    ledger
        Where the promise is recorded; None keeps no record.
    """
    total: WordVector = np.zeros(cells, dtype=np.uint64)
    for share in shares:
        total += share  # modulo 2^64
    # Without a ledger it is not added to the process's sum: what both open is one promise.
    page = (Ledger() if ledger is None else Ledger.of(ledger)).open(promise, by="Aggregator")
    noise = Geometric(page.budget, sensitivity=1)  # [P1]
    # Drawn around 0 and added modulo 2^64 here: the mechanism would clip the sum.
    zeros = np.zeros(cells, dtype=np.int64)
    drawn: Any = page.release(noise, zeros, rng.noise, of="sums of shares")
    return np.asarray(total + drawn.astype(np.uint64))  # [P2]


def combine_openings(first: WordVector, second: WordVector) -> Integers:
    """Return the noisy counts of cells from what both aggregators opened."""
    return (first + second).astype(np.int64)  # [P3]


def count_deviation(epsilon: Number) -> float:
    """Return the standard deviation of a count with both noises.

    Examples
    --------
    >>> round(count_deviation(1), 2)
    3.96
    """
    half = float(exact_budget(epsilon)) / 2
    return float(2 * np.exp(-half / 2) / -np.expm1(-half))
