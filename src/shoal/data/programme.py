"""An invented education programme: pupils, courses, a log of events, and a features file."""

from datetime import date

import numpy as np
import pyarrow as pa

from shoal.data._generate import check_count, draw_indices

PROGRAMME_FILE = """\
# What one row a pupil is made of. Everything here is public; what it computes is yours.
version: 1
person: pupil
period: {from: 2025-03-03, until: 2025-12-15, zone: America/Montevideo, arrived_before: 2026-01-15}
id: {case: ignore, prefix: "UY-"}     # uy-p00017, UY-P00017 and p00017 are one pupil
people:
  table: pupils.csv
  columns: {age: {low: 5, high: 19}, sex: {values: [F, M], use: describe}}
public:
  courses:
    table: courses.csv
    key: course
    source: Course catalogue 2025, made up
    columns: {subject: {values: [math, language, science]}, grade: {low: 1, high: 6}}
events:
  log:
    table: log.parquet
    time: at
    join: courses
    columns:
      kind: {values: [login, exercise, video, forum]}
      minutes: {low: 0, high: 60, step: 0.1}
      score: {low: 0, high: 100, step: 0.1}
      item: {text: true}
features:
  logins: {count: log, where: {kind: login}, high: 200, label: Log-ins}
  exercises: {count: log, where: {kind: exercise}, high: 300, label: Exercises}
  minutes: {sum: log.minutes, high: 3000, label: Minutes}
  score: {mean: log.score, where: {kind: exercise}, none: missing, label: Mean score}
  evening: {share: log, which: {hour: [18, 23]}, none: 0, label: Share in the evening}
  weeks: {weeks: log, label: Weeks with an event}
  pause: {gap: log, label: Longest pause, unit: weeks}
"""
_KINDS = ("login", "exercise", "video", "forum")
_SUBJECTS = ("math", "language", "science")
_WEEKS = 41
# Four ways of taking part: share of pupils; events a week; share of weeks; of evenings; of kinds;
# mean score.
_HABITS = (
    (0.35, 1.5, 0.5, 0.1, (0.6, 0.2, 0.15, 0.05), 55.0),
    (0.30, 4.0, 0.9, 0.1, (0.2, 0.6, 0.15, 0.05), 70.0),
    (0.20, 3.0, 0.7, 0.7, (0.2, 0.2, 0.50, 0.10), 62.0),
    (0.15, 6.0, 0.3, 0.4, (0.2, 0.4, 0.10, 0.30), 45.0),
)
_DAY = 86_400_000_000
_START = (date(2025, 3, 3) - date(1970, 1, 1)).days * _DAY + 3 * 3_600_000_000  # midnight there


def draw_programme(n: int = 10_000, seed: int = 0) -> dict[str, pa.Table]:
    """Draw the tables of an invented programme: some 80 events a pupil.

    A few ids are written otherwise or belong to nobody, and a few events come twice, too late, or
    have a time that is none.

    Parameters
    ----------
    n
        How many pupils.
    seed
        The same seed makes the same tables.

    Examples
    --------
    >>> tables = draw_programme(50)
    >>> [*tables], tables["pupils"].num_rows
    (['pupils', 'courses', 'log'], 50)
    """
    check_count(n=n)
    rng = np.random.default_rng(seed)
    ids = np.array([f"P{number:05d}" for number in range(n)])
    shares, weekly, active, evening, kinds, scores = (
        np.array(each) for each in zip(*_HABITS, strict=True)
    )
    habit = rng.choice(len(shares), n, p=shares)
    pupils = {"pupil": ids, "age": rng.integers(6, 18, n), "sex": rng.choice(["F", "M"], n)}
    courses = {
        "course": [f"{subject[0]}{grade}" for subject in _SUBJECTS for grade in range(1, 7)],
        "subject": np.repeat(_SUBJECTS, 6),
        "grade": np.tile(np.arange(1, 7), 3),
    }
    is_active = rng.random((n, _WEEKS)) < active[habit][:, None]
    per_week = rng.poisson(np.where(is_active, weekly[habit][:, None], 0.0))
    who, week = (np.repeat(each.ravel(), per_week.ravel()) for each in np.indices((n, _WEEKS)))
    ways, n_events = habit[who], len(who)
    hour = np.where(rng.random(n_events) < evening[ways], rng.integers(18, 23, n_events), 0)
    hour = np.where(hour == 0, rng.integers(8, 16, n_events), hour)
    second = rng.integers(0, 3600, n_events) + hour * 3600
    at = _START + (week * 7 + rng.integers(0, 7, n_events)) * _DAY + second * 1_000_000
    kind = draw_indices(rng, kinds[ways])
    score = rng.normal(scores[ways], 12.0).clip(0, 100).round(1)
    written = ids[who].astype(object)
    odd = rng.random(n_events)
    written[odd < 0.002] = [f"uy-{name.lower()}" for name in written[odd < 0.002]]
    written[(odd >= 0.002) & (odd < 0.003)] = "P99999X"  # nobody's
    arrived = at + rng.integers(1, 10, n_events) * _DAY
    arrived[odd > 0.999] += 400 * _DAY
    at[(odd > 0.998) & (odd <= 0.9985)] = 0  # a clock that began again in 1970
    log = pa.table(
        {
            "pupil": pa.array(written, pa.string()),
            "at": pa.array(at, pa.timestamp("us", "UTC")),
            "arrived": pa.array(arrived, pa.timestamp("us", "UTC")),
            "course": pa.array(courses["course"]).take(pa.array(rng.integers(0, 18, n_events))),
            "kind": pa.array(_KINDS).take(pa.array(kind)),
            "minutes": rng.gamma(2.0, 6.0, n_events).clip(0, 90).round(1),
            "score": pa.array(score, mask=kind != 1),
            "item": pa.array([f"i{i}" for i in range(500)]).take(rng.integers(0, 500, n_events)),
        }
    )
    twice = log.filter(pa.array((odd > 0.5) & (odd < 0.501)))
    return {
        "pupils": pa.table(pupils),
        "courses": pa.table(courses),
        "log": pa.concat_tables([log, twice]),
    }
