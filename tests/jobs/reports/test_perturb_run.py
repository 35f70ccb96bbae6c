import pytest

from shoal.errors import InvalidSetting
from shoal.jobs.reports._mechanism import MechanismOptions, Name
from shoal.jobs.reports._round_reports import rounds_task
from shoal.privacy import LocalDP

DOMAIN = "version: 1\ncolumns: {a: {low: 0, high: 10}, b: {low: 0, high: 10}}\n"


@pytest.fixture
def options(tmp_path):
    (tmp_path / "domain.yaml").write_text(DOMAIN)
    return MechanismOptions(
        Name.rounds, "4", None, tmp_path / "domain.yaml", None, "auto", clip=False
    )


@pytest.mark.parametrize("seed", [None, 3])
def test_a_rehearsal_is_marked_in_the_promise_of_a_report(options, seed):
    task = rounds_task(options, "2", None, None, seed)
    assert task.promise == LocalDP(4)
    assert task.guarantee.simulation is (seed is not None)


def test_who_people_are_is_not_reported(options):
    with pytest.raises(InvalidSetting, match="both the person's token"):
        rounds_task(options, "2", "a", None, None)
