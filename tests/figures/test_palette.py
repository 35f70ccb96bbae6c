import pytest

from shoal.figures.palette import PALETTE, css_variables, inline_light_colours

LIGHT, DARK = 0, 1


def luminance(colour: str) -> float:
    """Relative luminance by WCAG 2.2."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("text", ["ink", "muted", "accent", "contrast-text", "danger"])
@pytest.mark.parametrize("ground", ["card", "page"])
def test_text_stands_out_from_its_ground(theme, text, ground):
    assert contrast(PALETTE[text][theme], PALETTE[ground][theme]) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize(
    ("text", "ground"), [("warning", "warning-ground"), ("accent", "accent-ground")]
)
def test_text_on_a_ground_of_its_own_stands_out(theme, text, ground):
    assert contrast(PALETTE[text][theme], PALETTE[ground][theme]) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("mark", ["contrast", "axis", *(f"series-{i}" for i in range(1, 7))])
def test_marks_stand_out_from_the_card(theme, mark):
    assert contrast(PALETTE[mark][theme], PALETTE["card"][theme]) >= 3


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("series", range(1, 7))
def test_numerals_can_be_read_on_every_series(theme, series):
    numeral = "numeral-dark" if series in (2, 4, 5) else "numeral"
    ground = PALETTE[f"series-{series}"][theme]
    assert contrast(PALETTE[numeral][theme], ground) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_shades_run_one_way_from_few_to_many(theme):
    steps = [luminance(PALETTE[f"shade-{i}"][theme]) for i in range(1, 7)]
    assert steps == sorted(steps, reverse=theme == LIGHT)
    assert len(set(steps)) == 6


def test_a_style_for_a_file_holds_no_variable():
    assert (
        inline_light_colours("a{fill:var(--ink);stroke:var(--shade-1)}")
        == "a{fill:#14232B;stroke:#E3EEF0}"
    )
    assert css_variables(dark=True).startswith("--page:#10191F;")
