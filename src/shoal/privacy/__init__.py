"""Guarantees, composition, the ledger, and results with their leaves."""

from shoal.privacy.guarantees import (
    ApproxDP,
    Budget,
    Guarantee,
    KAnonymity,
    LocalDP,
    MetricDP,
    PureDP,
    Unprotected,
    guarantee_of,
)
from shoal.privacy.ledger import Ledger
from shoal.privacy.page import Mechanism, Page
from shoal.privacy.results import Protected, Public, Released, Result

__all__ = [
    "ApproxDP",
    "Budget",
    "Guarantee",
    "KAnonymity",
    "Ledger",
    "LocalDP",
    "Mechanism",
    "MetricDP",
    "Page",
    "Protected",
    "Public",
    "PureDP",
    "Released",
    "Result",
    "Unprotected",
    "guarantee_of",
]
