"""Run by the interpreter of a wheel's own environment: draw outputs of one mechanism.

    python draw.py MODULE NAME DRAWS OUT

Writes OUT, JSON: the claim, and so many outputs on either input of the pair. ``MODULE`` is a file
beside this one with a dictionary ``MECHANISMS`` of functions that return a ``Mechanism``.
"""

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


class Mechanism(NamedTuple):
    """A mechanism of a wheel, with the pair it is tried on.

    Parameters
    ----------
    claim
        The epsilon that the wheel claims for the pair.
    pair
        Two inputs that the claim compares.
    release
        A function of an input; its output is a list of numbers, or text.
    """

    claim: float
    pair: tuple[Any, Any]
    release: Callable[[Any], Any]


def main() -> None:
    module, name, draws, out = sys.argv[1:]
    claim, pair, release = importlib.import_module(module).MECHANISMS[name]()
    outputs = [[release(value) for _ in range(int(draws))] for value in pair]
    Path(out).write_text(json.dumps({"claim": claim, "outputs": outputs}))


if __name__ == "__main__":
    sys.modules["draw"] = sys.modules["__main__"]  # what the modules import
    main()
