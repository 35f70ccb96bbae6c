"""What a page says about risk, in the words of WP216 and of SUDA."""

import pytest

from shoal.anonymize._policy import Policy
from shoal.anonymize.risk._recount import AchievedPrivacy
from shoal.anonymize.risk._special_uniques import SpecialCombination, SpecialUniques
from shoal.pages._table_risk import model_texts, special_text, unique_lines, wp216_lines

SEX = {"role": "quasi", "hierarchy": {"tree": {"*": ["F", "M"]}}}


def answers(attributes=None, *, k=5, share=None):
    policy = Policy.of(
        {"version": 1, "privacy": {"k": 5}, "attributes": {"sex": SEX, **(attributes or {})}}
    )
    achieved = AchievedPrivacy(k, 2, 20, share=share or {})
    return dict(line.split(" (WP216): ") for line in wp216_lines(policy, achieved))


def test_the_three_questions_are_answered_from_what_was_counted():
    found = answers()
    assert "at least 5 rows" in found["Singling out"]
    assert "at least 5 records" in found["Linkability"]
    assert "not limited" in found["Inference"]


def test_columns_published_as_they_are_are_not_covered():
    assert "1 column is published" in answers({"town": {"role": "other"}})["Singling out"]


def test_a_table_with_single_rows_says_that_people_can_be_singled_out():
    assert answers(k=1)["Singling out"].startswith("possible")


def test_rules_on_sensitive_columns_limit_inference():
    ill = {"role": "sensitive", "l": {"value": 2}}
    assert "limited by l and t for ill" in answers({"ill": ill}, share={"ill": 0.75})["Inference"]
    free = answers({"ill": {"role": "sensitive"}}, share={"ill": 1.0})["Inference"]
    assert free.startswith("not limited: no rule")


def test_pseudonyms_are_told_to_link():
    key = {"role": "identifier", "action": "hmac", "key_env": "K"}
    assert "Pseudonyms link" in answers({"id": key})["Linkability"]


@pytest.mark.heavy
def test_unique_people_are_estimated_if_the_population_is_known():
    assert unique_lines([[1, 5], [2, 5]], None) == []
    (line,) = unique_lines([[1, 5], [2, 5]], 1_000)
    assert line.startswith("33.3 % of the people stand alone")
    assert "Dankar" in line


def test_special_people_are_told_in_a_sentence():
    pair = SpecialCombination(("age", "sex"), 3)
    found = SpecialUniques((pair,), 3, 10, 3, {"age": 0.6, "sex": 0.4})
    assert special_text(found).startswith("3 of 10 are the only ones")
    assert "'age' adds most" in special_text(found)
    assert "Nobody" in special_text(SpecialUniques((), 0, 10, 2, {"age": 0.0}))


def test_each_model_is_told_in_a_sentence_with_what_was_reached():
    privacy = {
        "k": 2,
        "k_map": {"k": 20},
        "population": {"path": "people.csv"},
        "presence": {"most": 0.3},
        "average_risk": 0.05,
        "uniqueness": {"most": 0.02, "within": "sample"},
    }
    policy = Policy.of({"version": 1, "privacy": privacy, "attributes": {"sex": SEX}})
    reached = {"k_map": 24, "presence": 0.25, "average_risk": 0.04, "uniqueness": 0.01}
    people, presence, average, unique = model_texts(policy, reached)
    assert "At least 20 people of the population" in people
    assert "at most 25 % are in it; at most 30 % was allowed" in presence
    assert "1 in 25; 1 in 20 was allowed" in average
    assert unique.startswith("1 % of the people are the only ones")
