"""How far a job is: named steps, told to a terminal, to a file, or to nobody."""

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from shoal.privacy import Guarantee

PROGRESS_FILE = "SHOAL_PROGRESS"
"""The setting that names the file to which ``ProgressFile`` adds its lines."""
FIRST_STEP = "Starting"
"""What is shown until the first step has a name."""
_SECONDS_BETWEEN = 0.1
_MOST_OF_A_STEP = 0.99  # a step is done when the next one begins


class State(NamedTuple):
    """Where a job is: the step under way, in words, and how many steps are done.

    Parameters
    ----------
    step
        The step under way.
    text
        The step and what is known of it, e.g. ``Checking rows: 1,234``.
    done
        How many steps are done, with the part of the present one.
    steps
        How many there are.
    is_new
        Whether the step has just begun.
    """

    step: str = FIRST_STEP
    text: str = FIRST_STEP
    done: float = 0.0
    steps: int = 1
    is_new: bool = False


class Sink(Protocol):
    """Where progress goes; it never raises."""

    def show(self, state: State) -> None:
        """Show where the job is."""

    def show_spent(self, epsilon: str) -> None:
        """Show that a budget was spent: from here on stopping does not give it back."""


class Nobody:
    """A sink for jobs that nobody watches."""

    def show(self, state: State) -> None:
        """Show nothing."""

    def show_spent(self, epsilon: str) -> None:
        """Show nothing."""


class ProgressFile:
    """A sink that adds a line of JSON for each state to a file which only its owner can read.

    States within a tenth of a second of the last line are left out, unless they begin a step.

    Parameters
    ----------
    path
        The file.
    clock
        The seconds since any moment, for tests.
    """

    def __init__(self, path: str | Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._next = -1.0

    def show(self, state: State) -> None:
        """Write the step, its text, and the share of all steps that is done."""
        now = self._clock()
        if now < self._next and not state.is_new:
            return
        self._next = now + _SECONDS_BETWEEN
        share = round(min(state.done / max(state.steps, 1), 1), 4)
        self._write({"step": state.step, "text": state.text, "share": share})

    def show_spent(self, epsilon: str) -> None:
        """Write the budget that was spent."""
        self._write({"spent": epsilon})

    def _write(self, line: dict[str, object]) -> None:
        # A release that is paid for must not fail because nobody can watch it.
        with suppress(OSError):
            place = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(place, "w", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")


class Progress:
    """The steps of a job, told to a sink.

    Parameters
    ----------
    sink
        Where they are told; None for nowhere.
    steps
        How many there are.

    Examples
    --------
    >>> progress = Progress(steps=2)
    >>> progress.step("Checking rows")
    >>> progress.count_rows(1_234)
    >>> progress.state.text
    'Checking rows: 1,234'
    """

    def __init__(self, sink: Sink | None = None, steps: int = 1) -> None:
        self.sink: Sink = Nobody() if sink is None else sink
        self.state = State(steps=steps)

    def step(self, name: str) -> None:
        """Begin the next step.

        Parameters
        ----------
        name
            What is being done.
        """
        begun = self.state.step != FIRST_STEP
        self._show(step=name, text=name, done=int(self.state.done) + begun, is_new=True)

    def describe(self, state: str) -> None:
        """Say in words how the step under way stands, instead of its name.

        Parameters
        ----------
        state
            The words.
        """
        self._show(text=state)

    def part(self, name: str, share: float) -> None:
        """Say how far the step under way is.

        Parameters
        ----------
        name
            What is being done, for sinks that keep a record; the step keeps its own name.
        share
            How far it is, from 0 to 1.
        """
        self._show(done=int(self.state.done) + min(share, _MOST_OF_A_STEP))

    def count_rows(self, read: int) -> None:
        """Say beside the step how many rows were read.

        Parameters
        ----------
        read
            How many.
        """
        self.describe(f"{self.state.step}: {read:,}")

    def count_tasks(self, done: int, tasks: int) -> None:
        """Say beside the step how many tasks of a cluster are done.

        Parameters
        ----------
        done
            How many are.
        tasks
            How many there are.
        """
        self.describe(f"{self.state.step}: {done:,} of {tasks:,} tasks")

    def spend(self, epsilon: str) -> None:
        """Say that a budget was spent.

        Parameters
        ----------
        epsilon
            The budget, exactly.
        """
        self.sink.show_spent(epsilon)

    def _show(self, *, is_new: bool = False, **changes: object) -> None:
        self.state = self.state._replace(is_new=is_new, **changes)  # type: ignore[arg-type]
        self.sink.show(self.state)


def tell_spending(ledger: Any, progress: Progress) -> None:
    """Have a ledger tell of each entry that it writes from now on.

    Parameters
    ----------
    ledger
        The ledger.
    progress
        Who is told of each budget that is spent.
    """
    from shoal.privacy import exact_text

    def tell(made: "Guarantee") -> None:
        epsilon = getattr(made, "epsilon", None)
        if epsilon is not None:
            progress.spend(exact_text(epsilon))

    ledger.on_entry = tell
