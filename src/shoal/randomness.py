"""The two random streams of a run: noise, which protects people, and compute, which does not.

Noise comes from ChaCha20 keyed by the operating system. A seed makes a run repeatable, and marks
whatever it releases as a simulation: whoever has the seed can subtract the noise.

A stream can never repeat itself behind your back:

- ``child(*names)`` derives an independent stream; the same names twice are refused;
- a copied or pickled stream is another one: keyed anew by the operating system wherever it is
  opened, or, if seeded, derived from the original;
- after a fork the child process continues on a stream of its own.

The exception has a name: ``TaskNoise`` travels, and opens the same streams wherever it is opened.
"""

import hashlib
import os
import secrets
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, cast

import numpy as np
from randomgen import ChaCha

from shoal.errors import InvalidSetting, RepeatedStream, setting

__all__ = ["NoiseStream", "Randomness", "Seed", "TaskNoise"]

Seed = int | np.random.Generator | None
"""What ``random_state`` takes: None draws real noise, all else makes a simulation."""


def _derive(key: bytes, *names: object) -> bytes:
    """Derive a 256-bit key from a key and names; it reveals nothing about ``key``."""
    # Types and lengths are part of the text, so that ("ab", "c") and ("a", "bc") differ.
    text = "\x1f".join(f"{type(name).__name__}:{len(str(name))}:{name}" for name in names)
    return hashlib.blake2b(text.encode(), key=key, digest_size=32, person=b"shoal.stream").digest()


def _chacha(key: bytes) -> ChaCha:
    return ChaCha(key=int.from_bytes(key, "little"), rounds=20)


class NoiseStream(np.random.Generator):
    """A NumPy generator on ChaCha20 that knows whether it was seeded and derives child streams.

    Parameters
    ----------
    key
        256 bits; whoever has them can repeat every draw.
    simulation
        Whether the key comes from a seed, so that what is drawn protects nobody.
    """

    def __init__(self, key: bytes, simulation: bool) -> None:
        super().__init__(_chacha(key))
        self._key = key
        self.simulation = simulation
        self._used: set[bytes] = set()
        self._copies: Iterator[int] = count()
        _open_streams.add(self)

    def child(self, *names: object) -> "NoiseStream":
        """Derive an independent stream for a partition, a process or a step.

        Parameters
        ----------
        names
            Texts and numbers that name it; the same names may be used once.

        Raises
        ------
        RepeatedStream
            If a child of these names was taken before: it would draw the same noise again.
        """
        key = _derive(self._key, "child", *names)
        if key in self._used:
            raise RepeatedStream(
                f"A child stream with these {len(names)} names was already taken.",
                "Give every partition and every release its own name.",
            )
        self._used.add(key)
        return NoiseStream(key, self.simulation)

    def for_tasks(self) -> "TaskNoise":
        """Return its child streams in a form that tasks may open twice: see ``TaskNoise``."""
        return TaskNoise(self._key, self.simulation)

    def __reduce__(self) -> tuple[Any, ...]:
        # Real noise: the bytes of a pickle may be opened by many, who must not share a stream.
        if not self.simulation:
            return _stream_from_os, ()  # the same bytes may be opened by many
        return NoiseStream, (_derive(self._key, "copy", next(self._copies)), True)

    def __copy__(self) -> "NoiseStream":
        make, key = self.__reduce__()
        return cast("NoiseStream", make(*key))

    def __deepcopy__(self, memo: dict[int, object]) -> "NoiseStream":
        return self.__copy__()

    def _continue_after_fork(self) -> None:
        """Switch to a new key: parent and child process must not draw the same noise."""
        # Real noise needs new entropy: the process number alone could be guessed.
        fresh = b"" if self.simulation else secrets.token_bytes(32)
        key = _derive(self._key, "fork", os.getpid(), fresh)
        self.__init__(key, self.simulation)  # type: ignore[misc]


@dataclass(frozen=True)
class TaskNoise:
    """Child streams that tasks on other machines open by name, again if a task is repeated.

    Nothing refuses a repetition here. Whoever uses it names streams so that equal names mean the
    same rows of the same release: then drawing again says nothing new. Its key must not go where
    the rows may not: whoever has it can subtract the noise.

    Parameters
    ----------
    _key
        The parent stream's key.
    simulation
        Whether the parent stream was seeded.

    Examples
    --------
    >>> noise = Randomness(7).noise.child("reports").for_tasks()
    >>> bool(noise.stream("block", 0).random() == noise.stream("block", 0).random())
    True
    """

    _key: bytes = field(repr=False)
    simulation: bool

    def stream(self, *names: object) -> NoiseStream:
        """Open the stream that the parent's ``child`` of these names would be.

        Parameters
        ----------
        names
            As for ``NoiseStream.child``; equal names open equal streams.
        """
        return NoiseStream(_derive(self._key, "child", *names), self.simulation)


def _stream_from_os() -> NoiseStream:
    """Open a stream keyed by the operating system."""
    return NoiseStream(secrets.token_bytes(32), simulation=False)


# All streams of this process, so that a fork can give each a new key; weak, to keep none alive.
_open_streams: "weakref.WeakSet[NoiseStream]" = weakref.WeakSet()


def _after_fork() -> None:
    for stream in list(_open_streams):
        stream._continue_after_fork()


os.register_at_fork(after_in_child=_after_fork)


class Randomness:
    """The noise stream and the compute stream of one run.

    Parameters
    ----------
    seed
        ``None``: keyed by the operating system. An integer: repeatable, and a simulation. A NumPy
        generator: drawn from once for a key; a simulation too, since nobody vouches for it.
    compute_seed
        Seeds the compute stream alone, for a run that is resumed: what it computes between two
        releases must come out as it did before. Noise does not depend on it.

    Examples
    --------
    >>> Randomness(7).noise.simulation, Randomness().noise.simulation
    (True, False)
    >>> Randomness(7).seed() == Randomness(7).seed()
    True
    """

    def __init__(self, seed: Seed = None, *, compute_seed: int | None = None) -> None:
        key = _key_of(seed)
        self.noise = NoiseStream(_derive(key, "noise"), simulation=seed is not None)
        if compute_seed is None:
            compute_seed = int.from_bytes(_derive(key, "compute"), "little")
        # PCG64DXSM is fast and good enough where nobody's privacy depends on a draw.
        self.compute = np.random.Generator(np.random.PCG64DXSM(compute_seed))

    def seed(self) -> int:
        """Draw a seed for a library that takes a number, from the compute stream."""
        return int(self.compute.integers(2**31))


def _key_of(seed: Seed) -> bytes:
    """Return the 256-bit key of a seed."""
    if seed is None:
        return secrets.token_bytes(32)
    # Drawn once, so that the generator moves on and a second run differs.
    if isinstance(seed, np.random.Generator):
        return seed.bytes(32)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidSetting(
            setting("random_state")
            + f" must be a whole number of 0 or more; got a {type(seed).__name__}.",
            "Leave it out for real noise, or give e.g. "
            + setting("random_state", 7)
            + " for a simulation.",
        )
    return _derive(b"shoal", "seed", int(seed))
