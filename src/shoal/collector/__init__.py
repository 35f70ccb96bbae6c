"""Collect reports from devices: a campaign, a client that draws on the device, a server that adds.

    campaign.yaml ─► signed campaign ─► client: record ─► one report ─► server ─► sums ─► groups
                     (public)           (the record stays here)        (reports only)

``client`` is one file on the standard library alone, to be copied into an app; ``client.js`` is its
twin for browsers and Node, ``vectors.json`` what every port must reproduce byte for byte. Names
are loaded when they are used, so that ``import shoal.collector.client`` needs no NumPy.
"""

from typing import TYPE_CHECKING

from shoal._lazy import names_when_used

if TYPE_CHECKING:
    from shoal.collector._campaign import Campaign, box_of, make_key, read_key, sign_document
    from shoal.collector._campaign_draft import draft_campaign
    from shoal.collector._databases import open_store
    from shoal.collector._opened_sums import (
        add_openings,
        are_distinct,
        centers_of_openings,
        list_people,
        open_sums,
    )
    from shoal.collector._report_batches import who_of
    from shoal.collector._server import create_app, serve
    from shoal.collector._storage import Store
    from shoal.collector.client import Client, Notebook

_MODULE_OF = {
    "Campaign": "_campaign",
    "Client": "client",
    "Notebook": "client",
    "Store": "_storage",
    "add_openings": "_opened_sums",
    "are_distinct": "_opened_sums",
    "box_of": "_campaign",
    "centers_of_openings": "_opened_sums",
    "create_app": "_server",
    "draft_campaign": "_campaign_draft",
    "list_people": "_opened_sums",
    "make_key": "_campaign",
    "open_store": "_databases",
    "open_sums": "_opened_sums",
    "read_key": "_campaign",
    "serve": "_server",
    "sign_document": "_campaign",
    "who_of": "_report_batches",
}

__all__ = [
    "Campaign",
    "Client",
    "Notebook",
    "Store",
    "add_openings",
    "are_distinct",
    "box_of",
    "centers_of_openings",
    "create_app",
    "draft_campaign",
    "list_people",
    "make_key",
    "open_store",
    "open_sums",
    "read_key",
    "serve",
    "sign_document",
    "who_of",
]

__getattr__, __dir__ = names_when_used(__name__, _MODULE_OF, __all__)
