"""Fill in the pages of mechanisms in the site's navigation; a hook of mkdocs.

In ``mkdocs.yml``, ``central mechanisms`` and ``local mechanisms`` stand for the pages of those that
``shoal.mechanisms.registry`` lists.
"""

from typing import Any

from shoal.mechanisms.registry import REGISTRY

PAGES = {
    "central mechanisms": [*dict.fromkeys(each.page for each in REGISTRY if each.is_central)],
    "local mechanisms": [*dict.fromkeys(each.page for each in REGISTRY if not each.is_central)],
}


def filled_in(nav: Any) -> Any:
    """Return a navigation with pages in place of the words that stand for them."""
    if isinstance(nav, dict):
        return {title: filled_in(part) for title, part in nav.items()}
    if isinstance(nav, list):
        parts = [PAGES.get(part, [part]) if isinstance(part, str) else [part] for part in nav]
        return [filled_in(each) for part in parts for each in part]
    return nav


def on_config(config: Any) -> Any:
    """Fill in the navigation before pages are looked up."""
    config["nav"] = filled_in(config["nav"])
    return config
