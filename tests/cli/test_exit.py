import json
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from shoal.cli._exit import report_error
from shoal.errors import InvalidSetting

SHOAL = Path(sys.executable).with_name("shoal")
needs_full = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="this system has no /dev/full"
)


def shoal(*words, **streams):
    plain = {name: value for name, value in os.environ.items() if not name.startswith("SHOAL_")}
    given = {"stderr": subprocess.PIPE, "text": True, "timeout": 60, "env": plain} | streams
    return subprocess.run([SHOAL, *words], check=False, **given)


@pytest.mark.heavy
@needs_full
@pytest.mark.parametrize("words", [["version"], ["version", "--json"], ["--help"], ["demo", "-h"]])
def test_a_full_disk_under_standard_output_is_named(words):
    with open("/dev/full", "w") as full:
        done = shoal(*words, stdout=full)
    assert done.returncode == 2
    assert done.stderr.startswith("CannotWrite: The output cannot be written: No space left")
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.heavy
@needs_full
def test_a_full_disk_under_both_streams_still_has_its_exit_code(tmp_path):
    with open("/dev/full", "w") as full:
        for words, code in ((["version"], 2), (["ledger", "show", str(tmp_path / "none")], 2)):
            assert shoal(*words, "--json", stdout=full, stderr=full).returncode == code


@pytest.mark.heavy
@pytest.mark.parametrize("words", [["version"], ["version", "--json"], ["--help"]])
def test_a_reader_that_went_away_ends_the_run_quietly(words):
    reader, writer = os.pipe()
    os.close(reader)
    done = shoal(*words, stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


def raised(filename, error):
    """The error, raised in a file of that name, called from here."""
    code = compile("def fail(error): raise error", filename, "exec")
    module = types.ModuleType("module")
    exec(code, module.__dict__)
    with pytest.raises(type(error)) as caught:
        module.fail(error)
    return caught.value


def test_the_place_of_a_bug_is_in_the_package_not_in_a_path_that_sounds_like_it(capsys):
    error = raised("/srv/shoal/site-packages/rich/console.py", ValueError("Ada"))
    assert report_error(error, as_json=False) == 70
    assert "Bug: ValueError at shoal. Its" in capsys.readouterr().err
    package = Path(sys.modules["shoal"].__file__).parent
    report_error(raised(str(package / "apps" / "made_up.py"), ValueError("Ada")), as_json=False)
    assert f"at {Path('apps', 'made_up.py')}, line 1. Its" in capsys.readouterr().err


def test_an_ending_is_told_in_words_and_as_json(capsys):
    assert report_error(InvalidSetting("This came.", "Do that."), as_json=True) == 2
    shown = capsys.readouterr()
    assert shown.err == "InvalidSetting: This came.\nDo that.\n"
    assert json.loads(shown.out)["hint"] == "Do that."


@pytest.mark.heavy
def test_a_flag_that_became_a_verb_leads_there():
    done = shoal("cluster", "--local", "rows.csv")
    assert done.returncode == 2
    assert "No such option: --local" in done.stderr
    assert "shoal learn REPORTS" in done.stderr


@pytest.mark.parametrize(("stop", "code"), [(SystemExit(143), 143), (KeyboardInterrupt(), 130)])
def test_a_failure_while_a_stopped_run_cleans_up_is_no_bug(stop, code, capsys):
    """Spark may be gone by then, and what closes the session raises."""
    failure = ConnectionRefusedError("the gateway of Spark has ended")
    failure.__context__ = stop
    assert report_error(failure, as_json=False) == code
    assert capsys.readouterr().err == "Stopped: nothing half-written was left.\n"
