"""Mechanisms: each randomises one value, says what that promises, and proves it beside the code."""

from shoal.mechanisms.exponential import Choices, Exponential, Intervals
from shoal.mechanisms.geometric import Geometric

__all__ = ["Choices", "Exponential", "Geometric", "Intervals"]
