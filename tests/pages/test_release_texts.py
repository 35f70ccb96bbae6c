from shoal.cluster import PrivateKMeans
from shoal.domain import Box, Schema
from shoal.pages._release_texts import exact_promise_lines, release_settings, unit_of
from shoal.privacy import ApproxDP, PureDP

BOX = Box(age=(0, 110), visits=(0, 20))


def test_a_publisher_is_named_only_if_there_is_one():
    assert "publisher" not in release_settings(BOX, PureDP(1), None)
    shown = release_settings(BOX, PureDP(1), "The town", title="Groups")
    assert (shown["publisher"], shown["title"]) == ("The town", "Groups")


def test_the_promise_is_named_after_its_sentence():
    *_, last = exact_promise_lines(PureDP(1))
    assert (last.label, last.text) == ("Exactly", "ε = 1, pure differential privacy, for one row.")


def test_people_are_counted_only_where_each_is_known_and_has_one_row():
    def model(**people):
        return PrivateKMeans(2, epsilon=1, domain=Schema.of_box(Box.unit(2), **people))

    assert unit_of(model()) == "rows"
    assert unit_of(model(person="id", max_rows_per_person=4)) == "rows"
    assert unit_of(model(person="id", max_rows_per_person=1)) == "people"


def test_a_page_says_that_noisy_means_share_a_delta_only_where_one_was_spent():
    for promise, said in ((ApproxDP(1, 1e-6), True), (ApproxDP(1, 0), False), (PureDP(1), False)):
        assert ("share ε and δ" in release_settings(BOX, promise, None)["noise"]) is said
