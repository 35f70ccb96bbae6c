from shoal.anonymize._explore import ExploredSetting
from shoal.pages import verdict_page
from shoal.pages.exploration import page, policy_lines

MADE = ExploredSetting(5, 0.02, "global", 0.31, 12, 40, 6, 1 / 6, 1 / 20)
LESS = ExploredSetting(5, 0.0, "local", 0.08, 0, 90, 5, 1 / 5, 1 / 9)
NONE = ExploredSetting(
    999, 0.0, "global", refusal="The table has 500 people; a class needs k = 999."
)


def test_the_page_shows_every_setting_and_leads_with_the_least_loss():
    made = page([MADE, LESS, NONE])
    text = verdict_page(made.verdicts)
    assert "CURATOR ONLY" in text
    assert "The least loss is 0.080" in text
    assert policy_lines(LESS) == "privacy: {k: 5, suppression: 0}, search: {recoding: local}"
    assert "recoding: local" in text
    assert "a class needs k = 999" in text
    assert text.count("<svg") >= 2
    assert made.values["for_the_holder_alone"]
    assert [trial["loss"] for trial in made.values["trials"]] == [0.31, 0.08, None]


def test_settings_without_any_release_have_no_picture():
    made = page([NONE])
    assert "No setting has a release." in made.verdicts.lead
    assert made.verdicts.details == []
