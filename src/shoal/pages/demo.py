"""Build the page of the demo: groups of made-up students, and what noise and an attacker did.

The students are nobody, so the page may show what a page about people must not: their rows, groups
found without noise, and an attack.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.pages.page import CountReason, Extra, Line, Page

if TYPE_CHECKING:
    from shoal.audit import MembershipInference
    from shoal.figures import Figure


MAP = ("sessions_per_week", "minutes_per_session")
AXES = ("Sessions a week", "Minutes a session")
TITLE = "How students practise online"
MADE_UP = "The students are made up."
EXTRA = (
    "The students are nobody, so this page can show what a page about people must not: rows, "
    "groups found without noise, the same students at other budgets, and an attack."
)
_DRAWN_ROWS = 2_000


@dataclass(frozen=True)
class Trial:
    """Where groups landed at one budget, in several fits to the same made-up students.

    Parameters
    ----------
    centers
        The centres on the map, of shape (fits, groups, 2), in the order of the plain groups.
    """

    epsilon: Fraction
    centers: Floats


@dataclass(frozen=True)
class Demo:
    """What the demo made.

    Parameters
    ----------
    model
        The fitted ``PrivateKPrototypes``: what is released.
    rows
        The made-up students on the map, of shape (n, 2).
    labels
        The plain group of each, in the order of the private groups.
    plain
        The centres of the plain groups on the map, in that order.
    """

    model: Any
    rows: Floats
    labels: Integers
    plain: Floats
    costs: Mapping[int, float]
    trials: Sequence[Trial]
    attack: "MembershipInference"
    plain_attack: "MembershipInference"

    @property
    def centers(self) -> Floats:
        """The centres of the private groups on the map."""
        table = self.model.prototypes_
        return np.column_stack([table[name].to_numpy() for name in MAP])


def page(demo: Demo) -> Page:
    """Build the page of the demo: that of its groups, with what only a demo may show."""
    from shoal.pages.groups import page as groups_page

    groups = groups_page(demo.model, title=TITLE, publisher="shoal demo, on made-up students")
    settings = {"purpose": "Purpose: a first look", "source": "synthetic"}
    holder = {"holder": "nobody: the students are made up"}
    return replace(
        groups,
        settings={**groups.settings, **settings, **holder},
        summary=f"{groups.summary} {MADE_UP}",
        curve=_curve(demo),
        extra=Extra(
            "What only a demo can show", EXTRA, [map_pair(demo), _budgets(demo), _attack(demo)]
        ),
        values={**groups.values, "attack": _attack_values(demo)},
        lines=[*groups.lines, Line("Attacked", _attack_text(demo))],
    )


def map_pair(demo: Demo) -> "Figure":
    """Draw rows and plain centres beside released cells and private centres."""
    from shoal.figures import CenterPanel

    plain = CenterPanel(
        "Plain groups",
        "One dot is one student. It must stay inside.",
        centers=demo.plain,
        points=demo.rows[:_DRAWN_ROWS],
        groups=demo.labels[:_DRAWN_ROWS],
    )
    private = CenterPanel(
        "The same groups, private",
        "Noisy counts and centres. It may be published.",
        centers=demo.centers,
        cells=_cells(demo.model),
    )
    off = _off(demo.centers[None], demo.plain, demo.model)
    return _maps(
        [plain, private],
        "Without noise, and as released",
        f"Private centres lie {off} from the plain ones on average",
        f"Centres differ by {off} on average. Cells are the released table of the two columns.",
    )


def _cells(model: Any) -> Integers:
    counts = model.synopsis_.table(*MAP).counts
    return np.asarray(np.rint(np.maximum(counts, 0)), dtype=np.int64)


def _budgets(demo: Demo) -> "Figure":
    """Draw where the centres land in several fits, at each budget."""
    from shoal.figures import CenterPanel

    panels = []
    for trial in demo.trials:
        fits, k, _ = trial.centers.shape
        off = _off(trial.centers, demo.plain, demo.model)
        here = ", this release" if trial.epsilon == demo.model.guarantee_.epsilon else ""
        panels.append(
            CenterPanel(
                f"{_belief(trial.epsilon)}{here}",
                f"off by {off}",
                points=trial.centers.reshape(-1, 2),
                groups=np.tile(np.arange(k), fits),
            )
        )
    return _maps(
        panels,
        "The same at four budgets",
        f"A stronger promise moves the centres more: {'; '.join(' '.join(p[:2]) for p in panels)}",
        f"Each dot is a centre of one of {fits} fits with fresh noise; the titles say how far a "
        "guess of 10 in 100 can move at most.",
    )


def _maps(panels: Sequence[Any], title: str, finding: str, note: str) -> "Figure":
    from shoal.data.made_up import MADE_UP as TABLES
    from shoal.figures import center_maps

    box = TABLES["school"].domain.box.select(MAP)
    return center_maps(
        panels, names=AXES, low=box.low, high=box.high, title=title, finding=finding, note=note
    )


def _off(centers: Floats, plain: Floats, model: Any) -> str:
    """Return the mean distance to the plain centres, in hundredths of the columns' ranges."""
    box = model.domain.box.select(MAP)
    apart = (centers - plain) / (np.asarray(box.high) - np.asarray(box.low))
    return f"{100 * float(np.abs(apart).mean()):.1f} % of the range"


def _belief(epsilon: Fraction) -> str:
    from shoal.privacy.wording.amounts import belief, in_100

    return f"10 → {in_100(belief(Decimal('0.1'), epsilon).most)} in 100"


def _curve(demo: Demo) -> CountReason:
    """Draw what is left inside the groups over their number, from the release itself."""
    from shoal.figures import count_curve

    k, most = demo.model.n_clusters_, max(demo.costs.values()) or 1.0
    figure = count_curve(
        {count: 100 * cost / most for count, cost in demo.costs.items()},
        chosen=k,
        value="Cost left, of 100",
        title="What is left inside the groups, by how many there are",
        across="Number of groups",
        label=f"{k} here",
    )
    lines = [
        "Rows drawn from what was released, grouped again: it spends nothing. The cost of a row is "
        "its distance to its group, over numbers and categories.",
        f"{k} groups were made up: the curve falls less steeply from there on.",
    ]
    return CountReason(figure, lines)


def _attack(demo: Demo) -> "Figure":
    """Draw the curves of both attacks beside the ceiling."""
    from shoal.figures import roc_curve

    attack, plain = demo.attack, demo.plain_attack
    return roc_curve(
        {"private k-means": attack.roc.points(), "plain k-means": plain.roc.points()},
        title="An attack beside its ceiling",
        finding=_attack_text(demo),
        band=f"{attack.repeats} models of each kind, 100 groups of {attack.members} students; "
        f"{attack.setting.attack}.",
        ceiling=attack.ceiling.corners(),
        ceiling_name=attack.ceiling.name,
    )


def _attack_text(demo: Demo) -> str:
    from shoal.pages.attack import better_than_guessing
    from shoal.privacy.wording.amounts import advantage, in_100

    most = in_100(advantage(demo.model.guarantee_.epsilon))
    students = demo.attack.members + demo.attack.others
    return (
        f"An attacker who asked of {students:,} students whether a model had seen them was "
        f"{better_than_guessing(float(demo.attack))} with private k-means and "
        f"{better_than_guessing(float(demo.plain_attack))} with plain k-means; the promise allows "
        f"{most} in 100."
    )


def _attack_values(demo: Demo) -> dict[str, float | None]:
    return {
        "private": float(demo.attack),
        "plain": float(demo.plain_attack),
        "ceiling": demo.attack.ceiling.advantage,
    }
