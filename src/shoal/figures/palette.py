"""The colours of every page and figure, by role, in light and in dark.

Text stands out from its ground by at least 4.5 to 1 and marks by 3 to 1 (WCAG 2.2); a test
recomputes both. Six shades run from few to many, six series colours stay apart for people who
see fewer hues; and meaning never hangs on colour alone: marks carry a shape and a number too.
"""

import re

PALETTE: dict[str, tuple[str, str]] = {
    # role: (light, dark)
    "page": ("#F6F8F8", "#10191F"),
    "card": ("#FFFFFF", "#17232B"),
    "ink": ("#14232B", "#E8EFF2"),
    "muted": ("#4C5C66", "#A3B3BD"),
    "accent": ("#0B6E7F", "#62C9D6"),
    "accent-ground": ("#E4F1F3", "#16323A"),
    "contrast": ("#D9580A", "#FF9A57"),
    "contrast-text": ("#B84600", "#FF9A57"),
    "danger": ("#B3261E", "#FF8A80"),
    "warning": ("#7A4B00", "#FFD58A"),
    "warning-ground": ("#FFF4DC", "#2E2410"),
    "warning-line": ("#E2B458", "#8A6A24"),
    "axis": ("#7B8A93", "#738693"),
    "hairline": ("#D7E0E3", "#2C3C46"),
    "grid": ("#E3EAEC", "#263640"),
    "series-1": ("#064F60", "#8FEDE6"),
    "series-2": ("#E0570A", "#F4713A"),
    "series-3": ("#6D2FE0", "#C0A2F2"),
    "series-4": ("#BE7188", "#C4607F"),
    "series-5": ("#3E92E0", "#3F7DF5"),
    "series-6": ("#55350A", "#F4E56B"),
    "shade-1": ("#E3EEF0", "#1E313A"),
    "shade-2": ("#BCD8DD", "#24505B"),
    "shade-3": ("#8CBDC6", "#2F7280"),
    "shade-4": ("#559AA7", "#4796A4"),
    "shade-5": ("#22727F", "#74BFC9"),
    "shade-6": ("#06414E", "#B9ECEF"),
    "above-1": ("#D3E7EA", "#1F434D"),
    "above-2": ("#8CBDC6", "#2A6470"),
    "above-3": ("#22727F", "#74BFC9"),
    "below-1": ("#FBE6D6", "#46301F"),
    "below-2": ("#F3BE96", "#7A451F"),
    "below-3": ("#B84600", "#FF9A57"),
    "numeral": ("#FFFFFF", "#0B1216"),
    "numeral-dark": ("#0B1216", "#0B1216"),
}
# More shades than six are hard to tell apart.
SHADES = 6


def css_variables(dark: bool = False) -> str:
    """Return the roles as CSS variables: ``--ink:#14232B;...``.

    Parameters
    ----------
    dark
        Whether those of the dark page are wanted.
    """
    return "".join(f"--{role}:{pair[dark]};" for role, pair in PALETTE.items())


def inline_light_colours(css: str) -> str:
    """Replace each ``var(--role)`` of style rules by its light colour, for single files.

    Examples
    --------
    >>> inline_light_colours("fill:var(--ink)")
    'fill:#14232B'
    """
    return re.sub(r"var\(--([a-z0-9-]+)\)", lambda match: PALETTE[match[1]][0], css)
