"""``shoal collect``: reports from people's devices, and groups learnt from them."""

# Imported so that their verbs are registered.
from shoal.cli.verbs.collect import _aggregators, _backup, _campaign, _groups, _people
from shoal.cli.verbs.collect._options import collect_app

__all__ = ["_aggregators", "_backup", "_campaign", "_groups", "_people", "collect_app"]
