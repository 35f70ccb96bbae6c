"""``shoal collect``: reports from people's devices, and groups learnt from them."""

from shoal.cli.verbs.collect import aggregators, campaign, groups, people  # register verbs
from shoal.cli.verbs.collect.options import collect_app

__all__ = ["aggregators", "campaign", "collect_app", "groups", "people"]
