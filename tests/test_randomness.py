import copy
import os
import pickle
import secrets
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from shoal.errors import InvalidSetting, RepeatedStream
from shoal.randomness import NoiseStream, Randomness


def first_words(stream: np.random.Generator) -> list[int]:
    return stream.integers(0, 2**64, size=4, dtype=np.uint64).tolist()


def test_a_seed_repeats_and_marks_a_simulation():
    one, two = Randomness(7), Randomness(7)
    assert first_words(one.noise) == first_words(two.noise)
    assert one.seed() == two.seed()
    assert one.noise.simulation


def test_without_a_seed_runs_differ_and_are_real():
    one, two = Randomness(), Randomness()
    assert first_words(one.noise) != first_words(two.noise)
    assert not one.noise.simulation


def test_without_a_seed_noise_follows_from_what_the_operating_system_gives(monkeypatch):
    def words_for(entropy):
        monkeypatch.setattr("random._urandom", lambda size: entropy * size)
        return first_words(Randomness().noise)

    assert words_for(b"a") == words_for(b"a") != words_for(b"b")


def test_processes_draw_noise_of_their_own():
    script = "from shoal.randomness import Randomness; print(Randomness().noise.random())"
    command = [sys.executable, "-c", script]
    one, two = (subprocess.check_output(command, text=True) for _ in range(2))
    assert one != two


def test_a_test_draws_the_same_on_every_run_and_never_the_same_twice(pytestconfig):
    if pytestconfig.getoption("--noise"):
        pytest.skip("other noise than usual was asked for")
    drawn = [secrets.token_hex(4), os.urandom(4).hex(), secrets.token_hex(4)]
    assert drawn == ["0d05467d", "f012fe29", "de345a90"]


def test_noise_and_compute_are_separate_streams():
    used, fresh = Randomness(7), Randomness(7)
    used.compute.random(1000)
    assert first_words(used.noise) == first_words(fresh.noise)


def test_a_numpy_generator_as_seed_is_a_simulation():
    assert Randomness(np.random.default_rng(3)).noise.simulation


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True, [1]])
def test_a_seed_that_is_no_whole_number_is_refused(seed):
    with pytest.raises(InvalidSetting, match="whole number"):
        Randomness(seed)


def test_children_differ_from_each_other_and_from_their_parent():
    noise = Randomness(7).noise
    drawn = [first_words(noise.child("cells", i)) for i in range(50)] + [first_words(noise)]
    assert len({tuple(words) for words in drawn}) == 51


def test_names_of_children_cannot_be_confused():
    noise = Randomness(7).noise
    drawn = [
        noise.child("a", "b"),
        noise.child("ab"),
        noise.child("a\x1fb"),
        noise.child(1),
        noise.child("1"),
    ]
    assert len({tuple(first_words(stream)) for stream in drawn}) == 5


def test_a_child_of_the_same_name_is_refused():
    noise = Randomness(7).noise
    noise.child("cells", 0)
    with pytest.raises(RepeatedStream, match="already taken"):
        noise.child("cells", 0)


def test_a_child_is_the_same_wherever_it_is_derived():
    assert first_words(Randomness(7).noise.child("x", 3)) == first_words(
        Randomness(7).noise.child("x", 3)
    )


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))]
)
def test_a_copy_never_repeats_the_original_or_another_copy(again):
    noise = Randomness(7).noise
    drawn = [first_words(again(noise)), first_words(again(noise)), first_words(noise)]
    assert len({tuple(words) for words in drawn}) == 3
    assert again(noise).simulation


def test_the_same_bytes_opened_twice_are_two_real_streams():
    ticket = pickle.dumps(Randomness().noise)
    one, two = pickle.loads(ticket), pickle.loads(ticket)
    assert first_words(one) != first_words(two)
    assert not one.simulation


def test_the_same_bytes_of_a_seeded_stream_are_the_same_simulation():
    ticket = pickle.dumps(Randomness(7).noise)
    assert first_words(pickle.loads(ticket)) == first_words(pickle.loads(ticket))


def test_names_that_print_alike_are_one_name():
    noise = Randomness(7).noise
    noise.child("part", float("nan"))
    with pytest.raises(RepeatedStream):
        noise.child("part", float("nan"))


@pytest.mark.heavy
def test_two_forks_of_a_seeded_stream_differ():
    noise = Randomness(7).noise
    assert _words_after_fork(noise) != _words_after_fork(noise)


@pytest.mark.heavy
def test_a_real_stream_is_keyed_anew_in_a_fork(monkeypatch):
    """Even if the process number came again."""
    monkeypatch.setattr("os.getpid", lambda: 1)
    noise = Randomness().noise
    assert _words_after_fork(noise) != _words_after_fork(noise)


@pytest.mark.heavy
def test_a_forked_process_goes_on_with_a_stream_of_its_own():
    noise = Randomness().noise
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        drawn = list(pool.map(_draw_inherited, [noise] * 4))
    forked = _words_after_fork(noise)
    seen = [tuple(words) for words in [*drawn, forked, first_words(noise)]]
    assert len(set(seen)) == len(seen)


def _draw_inherited(noise: NoiseStream) -> list[int]:
    return first_words(noise)


def _words_after_fork(noise: np.random.Generator) -> list[int]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, pickle.dumps(first_words(noise)))
        os._exit(0)
    os.waitpid(child, 0)
    return pickle.loads(os.read(reading, 10_000))


def test_the_stream_is_chacha20_of_its_key():
    """First block of ChaCha20 for the all-zero key, nonce and counter (RFC 7539, A.1, vector 1)."""
    words = first_words(NoiseStream(bytes(32), simulation=True))
    assert words[0].to_bytes(8, "little").hex() == "76b8e0ada0f13d90"


@pytest.mark.heavy
def test_importing_the_package_is_light():
    code = (
        "import time; import shoal; spent = time.process_time(); import sys;"
        "print(spent, 'numpy' in sys.modules)"
    )
    words = [sys.executable, "-c", code]
    runs = [subprocess.run(words, capture_output=True, text=True, check=True) for _ in range(3)]
    spent, numpy_loaded = zip(*(run.stdout.split() for run in runs), strict=True)
    assert set(numpy_loaded) == {"False"}
    assert min(map(float, spent)) < 0.150  # CPU of the whole process, interpreter included


def test_noise_for_tasks_travels_and_opens_the_same_streams_twice():
    stream = Randomness().noise
    noise = stream.for_tasks()
    again = pickle.loads(pickle.dumps(noise))
    assert first_words(noise.stream("block", 3)) == first_words(again.stream("block", 3))
    assert first_words(noise.stream("block", 3)) != first_words(noise.stream("block", 4))
    assert first_words(noise.stream("block", 3)) == first_words(stream.child("block", 3))
    assert not noise.stream("block", 3).simulation
    assert Randomness(7).noise.for_tasks().stream("block", 3).simulation
    assert "key" not in repr(noise)
