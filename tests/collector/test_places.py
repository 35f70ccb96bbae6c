"""Campaigns of places: near ones look alike in a report, from the author's file to the groups."""

import json
import os

import numpy as np
import pytest

from shoal.collector import client, learning
from shoal.errors import InvalidSetting

from .campaigns import SECRET
from .conftest import MISSING, serving

pytest.importorskip("fastapi", reason=f"fastapi is {MISSING}")
pytest.importorskip("cryptography", reason=f"cryptography is {MISSING}")

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoal.collector._campaign import Campaign, mechanism_of, sign_document
from shoal.collector._campaign_draft import draft_campaign
from shoal.collector._databases import open_store
from shoal.collector._server import create_app
from shoal.collector._storage import Arrival

from .test_web_page import tab_of

PRIVATE = Ed25519PrivateKey.from_private_bytes(SECRET)
YAML = """
name: Walks in town
purpose: Where people walk, to place benches.
operator: The town
contact: benches@town.example
columns:
  - {name: latitude, low: 52.4, high: 52.6, unit: degrees}
  - {name: longitude, low: 13.2, high: 13.6, unit: degrees}
level: "1"
radius: "0.5"
n_expected: 2000
n_clusters: 3
enrolment: open
opens: 2020-01-01T00:00:00Z
closes: 2999-01-01T00:00:00Z
"""
MIDDLES = np.array([[52.45, 13.3], [52.55, 13.45], [52.48, 13.55]])
NEARBY = client.Limits(nearby=True)


def draft(folder, *changes):
    text = YAML
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "campaign.yaml").write_text(text)
    return draft_campaign(folder / "campaign.yaml")


def signed(document):
    envelope = sign_document("campaign", document, PRIVATE)
    return Campaign(envelope, document, client.identity("campaign", client.canonical(document)))


@pytest.fixture
def campaign(tmp_path):
    return signed(draft(tmp_path))


def people_of(n, seed=0):
    rng = np.random.default_rng(seed)
    return MIDDLES[rng.integers(0, 3, n)] + rng.standard_normal((n, 2)) * [0.006, 0.01]


def draw_all(campaign, people):
    words, question = client.WordStream(), campaign.document["rounds"][0]["question"]
    return [client.draw(question, person, words) for person in people.tolist()]


# ---- the author's file


def test_a_radius_makes_a_question_of_near_places_in_kilometres(tmp_path):
    document = draft(tmp_path)
    question = document["rounds"][0]["question"]
    mechanism = mechanism_of(question, ["latitude", "longitude"])
    assert document["epsilon"] == "1"
    assert question["unit"] == "km" == mechanism.guarantee.unit
    assert float(mechanism.guarantee.epsilon) == 2  # a level of 1 within half a kilometre
    assert client.lattice_rate(question) / 2**44 <= 2 * mechanism.step


def test_columns_of_other_kinds_say_how_much_of_each_is_one_unit(tmp_path):
    other = ("name: latitude, low: 52.4, high: 52.6, unit: degrees", "name: age, low: 0, high: 110")
    more = (
        "name: longitude, low: 13.2, high: 13.6, unit: degrees",
        "name: visits, low: 0, high: 9",
    )
    scaled = ('radius: "0.5"', "radius: 0.5\nscale: [10, 2]")
    question = draft(tmp_path, other, more, scaled)["rounds"][0]["question"]
    assert (question["units"], question["unit"]) == (["10.0", "2.0"], "")
    assert mechanism_of(question, ["age", "visits"]).space.units(2).tolist() == [10, 2]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('level: "1"\n', ""),
        ('level: "1"', 'level: "1"\nepsilon: "1"'),
        ('radius: "0.5"', 'radius: "-1"'),
        ('radius: "0.5"', "radius: 0"),
        ('radius: "0.5"', 'radius: "0.5"\ncells: 4'),
        ('radius: "0.5"', 'radius: "0.5"\nscale: [1, 1]'),
        ('radius: "0.5"', 'radius: "0.5"\nrounds: 3'),
        ("enrolment: open", "setting: shuffled\ndelta: '0.000001'\nn_least: 100"),
    ],
)
def test_what_no_report_of_places_can_be_is_refused_at_once(tmp_path, old, new):
    with pytest.raises(InvalidSetting):
        draft(tmp_path, (old, new))


# ---- the database


def test_places_are_kept_as_they_come_each_person_once_and_sorted(database, campaign):
    store = open_store(database, campaign.id, campaign.envelope)
    reports = [client._report_bytes(one) for one in draw_all(campaign, people_of(2_600))]
    whos = [os.urandom(16) for _ in reports]
    for start in range(0, len(reports), 650):
        part = slice(start, start + 650)
        store.accept([Arrival(0, whos[part], reports[part])], 0)
    assert store.accept([Arrival(0, whos[:3], reports[:3])], 0)[0].repeated == 3
    assert store.fold() == 0  # there is nothing to add up
    assert (store.count(), store.part_count()) == (2_600, 0)
    assert store.lattice_reports(0) == b"".join(sorted(reports))
    digest = store.close_round(0)
    assert store.close_round(0) == digest
    assert store.accept([Arrival(0, [b"x" * 16], reports[:1])], 0)[0].problem == "closed"
    store.forget_people(1)
    assert (store.count(), store.lattice_reports(0)) == (2_600, b"".join(sorted(reports)))
    store.close()


# ---- the wire


def test_only_places_that_the_lattice_has_are_taken(campaign, tmp_path):
    store = open_store(f"sqlite:///{tmp_path / 'a.sqlite'}", campaign.id, campaign.envelope)
    far = 2**53
    bodies = {
        client.batch_of(campaign.id, 0, [(b"a" * 16, [5, -7])]): 200,
        client.batch_of(campaign.id, 0, [(b"b" * 16, [5, far])]): 422,
        client.batch_of(campaign.id, 0, [(b"b" * 16, [-far, 5])]): 422,
        client.batch_of(campaign.id, 0, [(b"b" * 16, [5])]): 400,
        client.batch_of(campaign.id, 0, [(b"b" * 16, [5, 6, 7])]): 400,
        client.batch_of(campaign.id, 0, [(b"b" * 16, 5)]): 422,  # a code
        client.batch_of(campaign.id, 1, [(b"b" * 16, [5, 6])]): 409,
        client.batch_of(b"x" * 16, 0, [(b"b" * 16, [5, 6])]): 404,
    }
    with serving(create_app(campaign, store)) as address:
        for body, status in bodies.items():
            assert client.http(address + "/v1/reports", body)[0] == status
    store = open_store(f"sqlite:///{tmp_path / 'a.sqlite'}", campaign.id, campaign.envelope)
    assert (store.count(), len(store.lattice_reports(0))) == (1, 16)
    store.close()


def test_a_person_who_allows_only_what_hides_every_value_sends_nothing(campaign, tmp_path):
    store = open_store(f"sqlite:///{tmp_path / 'a.sqlite'}", campaign.id, campaign.envelope)
    notebook = client.Notebook(tmp_path / "notebook.json")
    with serving(create_app(campaign, store)) as address:
        with pytest.raises(client.Refused, match="near values"):
            client.Client(address, campaign.key, notebook).take_part([52.5, 13.4])
        person = client.Client(address, campaign.key, notebook, limits=NEARBY)
        assert [person.take_part([52.5, 13.4]) for _ in range(2)] == ["sent", "sent"]
        assert store.count() == 1
    (entry,) = json.loads((tmp_path / "notebook.json").read_text())["entries"].values()
    assert entry["epsilon"] == "1"  # what two places within the radius are told apart by
    assert len(entry["report"]) == 2


def test_levels_of_several_campaigns_add_up_against_the_ceiling(campaign, tmp_path):
    notebook = client.Notebook(tmp_path / "notebook.json")
    limits = client.Limits(ceiling="1.5", nearby=True)
    other = signed(draft(tmp_path, ("Walks in town", "Runs in town")))
    for i, one in enumerate((campaign, other)):
        store = open_store(f"sqlite:///{tmp_path / str(i)}.sqlite", one.id, one.envelope)
        with serving(create_app(one, store)) as address:
            person = client.Client(address, one.key, notebook, limits=limits)
            if one is campaign:
                assert person.take_part([52.5, 13.4]) == "sent"
            else:
                with pytest.raises(client.Refused, match="more than you allow in all"):
                    person.take_part([52.5, 13.4])


def report_and_look_up_in_a_tab(address, campaign, folder, place, group):
    """Take part in a browser beside all others, and see one's group and the centres there."""
    with tab_of(folder, f"{address}/#key={campaign.key.hex()}") as tab:
        tab.until("document.getElementById('form')?.dataset.ready")
        assert tab.run("document.querySelectorAll('tbody tr').length") == 3
        tab.run("document.getElementById('agree').click()")
        enter = (
            f"[{place[0]}, {place[1]}].forEach((x, i) => {{ "
            "document.querySelectorAll('#form input[type=number]')[i].value = x; })"
        )
        for button, text in (("send", "arrived"), ("label", f"group {group + 1}.")):
            tab.run(enter)
            tab.run("document.getElementById('answer').textContent = ''")
            tab.run(f"document.getElementById('{button}').click()")
            assert text in tab.until("document.getElementById('answer').textContent")


@pytest.mark.heavy
@pytest.mark.parametrize("n", [1_500, pytest.param(20_000, marks=pytest.mark.slow)])
def test_places_learnt_over_the_wire_are_those_of_perturbed_rows(campaign, tmp_path, n):
    from shoal.cluster import LocalClusterer
    from shoal.randomness import Randomness

    people = people_of(n)
    store = open_store(f"sqlite:///{tmp_path / 'a.sqlite'}", campaign.id, campaign.envelope)
    with serving(create_app(campaign, store, reports_per_address=10**9)) as address:
        reports = [(os.urandom(16), report) for report in draw_all(campaign, people)]
        for start in range(0, n, 1_000):
            body = client.batch_of(campaign.id, 0, reports[start : start + 1_000])
            assert client.http(address + "/v1/reports", body)[0] == 200
        collected = learning.reports_of(campaign, store)
        model = LocalClusterer(3, mechanism=collected.mechanism, random_state=1).fit(collected)
        units = model.units_
        document = learning.model_document(campaign, model.cluster_centers_, units, n, "none")
        store.publish("model", 0, sign_document("model", document, PRIVATE))
        notebook = client.Notebook(tmp_path / "notebook.json")
        person = client.Client(address, campaign.key, notebook, limits=NEARBY)
        labels = [person.label(middle) for middle in MIDDLES.tolist()]
        if n == 20_000:
            report_and_look_up_in_a_tab(address, campaign, tmp_path, MIDDLES[0], labels[0])
            assert store.count() == n + 1
    assert sorted(labels) == [0, 1, 2]
    mechanism = collected.mechanism
    rows = mechanism.release(people, Randomness(3).noise)
    here = LocalClusterer(3, mechanism=mechanism, random_state=1).fit(rows)
    kilometres = mechanism.space.units(2)
    first, second, true = (
        centers[np.argsort(centers[:, 1])] / kilometres
        for centers in (model.cluster_centers_, here.cluster_centers_, MIDDLES)
    )
    # Noise has a standard deviation of .87 km a coordinate, and a third of n people a group.
    error = 5 * np.sqrt(2 * (0.87**2 + 0.7**2) / (n / 3))
    assert np.abs(first - second).max() < max(error, 0.1)
    # The learner's own lattice has steps of a quarter of a kilometre.
    assert np.abs(first - true).max() < max(error, 0.25)


# ---- in a browser


@pytest.mark.heavy
def test_a_tab_uses_ones_position_and_says_what_stays_open(campaign, tmp_path):
    store = open_store(f"sqlite:///{tmp_path / 'a.sqlite'}", campaign.id, campaign.envelope)
    with serving(create_app(campaign, store)) as address:
        with tab_of(tmp_path, f"{address}/#key={campaign.key.hex()}") as tab:
            tab.until("document.getElementById('form')?.dataset.ready")
            assert tab.run("document.getElementById('send').disabled")
            text = tab.run("document.getElementById('consent-text').textContent")
            assert text.startswith("Places within 500 m look alike in your report.")
            assert "part of town" in text
            tab._send("Browser.grantPermissions", permissions=["geolocation"], origin=address)
            place = {"latitude": 52.51, "longitude": 13.41, "accuracy": 5}
            tab._send("Emulation.setGeolocationOverride", tab._session, **place)
            tab.run("document.getElementById('position').click()")
            answer = tab.until("document.getElementById('answer').textContent")
            assert "Nothing was sent yet" in answer
            fields = (
                "Array.from(document.querySelectorAll('#form input[type=number]'), e => e.value)"
            )
            assert tab.run(fields) == ["52.510000", "13.410000"]
            assert store.count() == 0
            tab.run("document.getElementById('agree').click()")
            tab.run("document.getElementById('answer').textContent = ''")
            tab.run("document.getElementById('send').click()")
            assert "arrived" in tab.until("document.getElementById('answer').textContent")
        (places,) = np.frombuffer(store.lattice_reports(0), dtype=">i8").reshape(-1, 2)
        step = 2.0**-21  # kilometres
        true = (np.array([52.51, 13.41]) - [52.4, 13.2]) / [0.008993204, 0.014772952] / step
        assert np.abs(places - true).max() * step < 12  # farther once in some billion


@pytest.mark.heavy
def test_the_page_of_places_promises_by_distance(campaign, tmp_path):
    from shoal.collector._web_page import render

    page = render(campaign, None, 0)
    assert "within 500 m" in page
    assert "which part" in page
    assert "ε = l/r = 2 per km" in page
    assert "Use my position" in page


def test_centres_are_shown_as_exactly_as_they_are_known(campaign):
    from shoal.collector._web_page import render

    centers, errors = np.array([[52.54913, 13.30006]]), np.array([[0.0021, 0.0004]])
    for known, texts in {
        None: ("52.549", "13.300"),  # by some thousandths of the town
        "errors": ("52.5491 ± 0.0042", "13.30006 ± 0.00080"),
    }.items():
        given = errors if known else None
        model = learning.model_document(campaign, centers, np.ones(2), 9, "None.", given)
        page = render(campaign, model, 9)
        assert all(f"<td>{text}</td>" in page for text in texts)
