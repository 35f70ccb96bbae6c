"""Collect reports from devices: a campaign, a client that draws on the device, a server that adds.

    campaign.yaml ─► signed campaign ─► client: record ─► one report ─► server ─► sums ─► groups
                     (public)           (the record stays here)        (reports only)

``client`` is one file on the standard library alone, to be copied into an app; ``client.js`` is its
twin for browsers and Node, ``vectors.json`` what every port must reproduce byte for byte. Nothing
is imported here, so that ``import shoal.collector.client`` needs no NumPy.
"""
