"""What a method pays with: a page, a share of its budget, a stream of noise."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.privacy.page import Mechanism, Page

__all__ = ["Purse"]


@dataclass(frozen=True, eq=False)
class Purse:
    """A share of a page's budget, ready to be spent; the page holds it against the promise."""

    page: Page
    budget: Any
    rng: np.random.Generator

    def share(self, part: Fraction) -> "Purse":
        """A purse of this part of the budget."""
        return replace(self, budget=self.budget * part)

    def release(self, mechanism: Mechanism[Any, Any], value: Any, *, of: str) -> Any:
        """As ``Page.release``."""
        return self.page.release(mechanism, value, self.rng, of=of)
