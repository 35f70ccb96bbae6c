"""Guarantees in words: budgets as text, the text of each kind, and the promise that pages show."""

from shoal.privacy.wording._guarantee_text import Promise
from shoal.privacy.wording._promise import SIMULATION, in_all, promise

__all__ = ["SIMULATION", "Promise", "in_all", "promise"]
