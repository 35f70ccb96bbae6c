import pytest

from shoal.cli._flags import Flags
from shoal.errors import (
    BudgetExceeded,
    InvalidDomain,
    InvalidSetting,
    NotFinite,
    OutsideDomain,
    SettingPart,
    setting,
)


@pytest.mark.parametrize(
    ("part", "flag"),
    [
        (SettingPart("n_public"), "--n-public"),
        (SettingPart("n_public", 500), "--n-public 500"),
        (SettingPart("n_clusters", 8), "-k 8"),
        (SettingPart("n_clusters", range(2, 21)), "-k 2-20"),
        (SettingPart("epsilon", 1.0), "--epsilon 1"),
        (SettingPart("scale", (10, 0.5)), "--scale 10,0.5"),
        (SettingPart("clip", True), "--clip"),
        (SettingPart("lattice", None), "--lattice"),
        (SettingPart("person", "a name; rm -r"), "--person 'a name; rm -r'"),
        (SettingPart("--method"), "--method"),
        (SettingPart("other", "bucket"), "`other: bucket` in the domain's file"),
    ],
)
def test_a_setting_is_written_as_a_flag_by_rule(part, flag):
    assert Flags()(part) == flag


def test_a_verb_lists_what_does_not_follow_the_rule():
    flags = Flags({"random_state": "--seed"}, {("nonfinite", "drop"): "--drop"})
    assert flags(SettingPart("random_state", 7)) == "--seed 7"
    assert flags(SettingPart("nonfinite", "drop")) == "--drop"


def test_an_error_within_names_flags_and_keeps_its_class_and_facts():
    with pytest.raises(InvalidSetting) as caught, Flags().shown():
        raise InvalidSetting.of("n_public", "must be a whole number", 500, 0.5)
    assert str(caught.value) == "--n-public must be a whole number; got 0.5.\nE.g. --n-public 500."
    assert caught.value.setting == "--n-public"
    assert caught.value.facts["example"] == 500


def test_words_that_look_like_settings_or_placeholders_stay_as_they_are():
    with pytest.raises(BudgetExceeded) as caught, Flags().shown():
        raise BudgetExceeded("Over {limit} of 'n_public=500'.", "Lower " + setting("epsilon") + ".")
    assert caught.value.message == "Over {limit} of 'n_public=500'."
    assert caught.value.hint == "Lower --epsilon."


def test_a_verb_gives_whole_hints_by_reason_and_by_class():
    flags = Flags(hints={NotFinite: "Use --drop.", (InvalidDomain, "degrees"): "Write geo."})
    for error, hint in [
        (NotFinite("3 rows hold NaN.", "Drop.", reason="missing values"), "Use --drop."),
        (InvalidDomain("Degrees.", "Use Box.geo.", reason="degrees"), "Write geo."),
        (OutsideDomain("3 rows.", "Widen."), "Widen."),
        (OutsideDomain("3 rows.", "Widen.", reason="degrees"), "Widen."),
    ]:
        assert flags.error(error).hint == hint
        assert flags.error(error).message == error.message


def test_rows_without_numbers_have_a_hint_for_verbs_that_cannot_leave_them_out():
    error = NotFinite("3 rows.", "Use " + setting("nonfinite", "drop"), reason="missing values")
    assert Flags().error(error).hint == "Fill those values, or remove the rows."


def test_what_a_verb_has_said_is_not_said_again():
    error = Flags(hints={NotFinite: "Use --drop."}).error(
        NotFinite("3 rows.", "Drop.", reason="missing values")
    )
    assert Flags().error(error).hint == "Use --drop."
