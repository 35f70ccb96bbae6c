"""The result of a membership attack, over all its games."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from shoal.audit.membership._ceiling import Ceiling
from shoal.audit.membership._roc import (
    FEWEST_REPEATS,
    GameScores,
    MeanOverRepeats,
    Roc,
    mean_roc,
    t_quantile,
)
from shoal.errors import quantity
from shoal.figures import Figure, roc_curve
from shoal.privacy import Guarantee, Protected, Public, Result, Unprotected

RATES = (0.01, 0.05, 0.1)


@dataclass(frozen=True)
class Setting:
    """How the games were played, with all that is needed to repeat them.

    Parameters
    ----------
    seed
        The seed; None if none was given.
    """

    attack: str
    game: str
    query: str = "true"
    shadow: str = "matched"
    shadows: int = 0
    alpha: float = 0.01
    seed: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class MembershipInference:
    """How well members were distinguished from others; for the holder of the rows only.

    ``float()`` of it is the advantage.

    Attributes
    ----------
    advantage
        TPR - FPR at the threshold fixed on shadow data (Yeom's adversary advantage).
    tpr
        The true positive rate at that threshold.
    fpr
        The false positive rate at that threshold.
    auc
        The area under the curve.
    tpr_at
        The largest TPR at a false positive rate; ``None`` is unresolved: too few others for it.
    roc
        The curve, with its band and counts.
    ceiling
        What the promise allows, or why it bounds nothing here.
    verdict
        ``"violated"``: the mean advantage less Student's t times its standard error exceeds the
        ceiling, at about level alpha. ``"consistent"``: it does not, which proves nothing.
        ``"no claim"``: there is no ceiling. ``"too few repeats"``: fewer than five.
    members
        The members of one game.
    others
        The non-members of one game.
    setting
        How the games were played.
    guarantee
        The promise that they were compared with.
    """

    advantage: MeanOverRepeats
    tpr: MeanOverRepeats
    fpr: MeanOverRepeats
    auc: MeanOverRepeats
    tpr_at: dict[float, MeanOverRepeats | None]
    roc: Roc
    ceiling: Ceiling
    verdict: str
    members: int
    others: int
    setting: Setting
    guarantee: Guarantee | None = None

    @property
    def repeats(self) -> int:
        """The number of games."""
        return self.advantage.repeats

    def __float__(self) -> float:
        return self.advantage.mean

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        rates = {f"{rate:g}": e and e.to_dict() for rate, e in self.tpr_at.items()}
        names = ("advantage", "tpr", "fpr", "auc", "roc", "ceiling")
        plain = {name: getattr(self, name).to_dict() for name in names}
        setting = asdict(self.setting) | {"notes": list(self.setting.notes)}
        promise = None if self.guarantee is None else self.guarantee.to_dict()
        sizes = {"members": self.members, "others": self.others, "repeats": self.repeats}
        facts = {"verdict": self.verdict, **plain, "tpr_at": rates, **sizes}
        return {"kind": "MembershipInference", **facts, "setting": setting, "guarantee": promise}

    def to_result(self) -> Result:
        """Return the finding for a report; every number is protected, since it depends on rows."""
        promise = self.guarantee or Unprotected("the model attacked promises nothing")
        values = self.to_dict()
        settings = {name: Public(value) for name, value in values["setting"].items()}
        names = ("verdict", "advantage", "tpr", "fpr", "auc", "tpr_at", "roc", "ceiling")
        protected = {name: Protected(values[name]) for name in names}
        return Result("membership inference", promise, settings, protected=protected)

    def plot(self) -> Figure:
        """Draw the curve with its band, chance, and the ceiling if there is one."""
        band = (
            f"{quantity(self.repeats, 'game')} of {self.members} members and {self.others} others"
        )
        level = "" if self.roc.low is None else f"; bands hold with probability {1 - self._alpha:g}"
        return roc_curve(
            {self.setting.attack: self.roc.points()},
            title="Membership inference",
            finding=f"Advantage {self.advantage}",
            band=f"{band}{level}.",
            ceiling=self.ceiling.corners(),
            ceiling_name=self.ceiling.name,
        )

    @property
    def _alpha(self) -> float:
        return self.setting.alpha

    def __str__(self) -> str:
        s = self.setting
        head = f"{self.verdict}: advantage {self.advantage} by {s.attack}"
        played = (
            f"{quantity(self.repeats, 'game')} ({s.game}), {self.members} members and "
            f"{self.others} others"
        )
        rates = ", ".join(
            f"{'unresolved' if e is None else e} at FPR {rate:g}" for rate, e in self.tpr_at.items()
        )
        lines = [
            head,
            f"ceiling of the advantage: {self.ceiling}",
            f"TPR {self.tpr}, FPR {self.fpr}, AUC {self.auc}",
            f"TPR {rates}",
            f"{played}, {s.shadow} shadows, {s.query} records asked for",
            f"alpha {s.alpha:g}" + ("" if s.seed is None else f", seed {s.seed}"),
        ]
        return "\n".join([*lines, *(f"note: {note}" for note in s.notes)])


def combine_games(
    games: Sequence[GameScores], ceiling: Ceiling, setting: Setting, guarantee: Guarantee | None
) -> MembershipInference:
    """Average the games, and compare the advantage with the ceiling."""
    alpha = setting.alpha
    names = ("advantage", "tpr", "fpr", "auc")
    means = {name: MeanOverRepeats.of([getattr(g, name) for g in games], alpha) for name in names}
    return MembershipInference(
        **means,
        tpr_at={rate: _at(games, rate, alpha) for rate in RATES},
        roc=mean_roc(games, alpha),
        ceiling=ceiling,
        verdict=_verdict(means["advantage"], ceiling, alpha),
        members=round(sum(g.inside.size for g in games) / len(games)),
        others=round(sum(g.outside.size for g in games) / len(games)),
        setting=setting,
        guarantee=guarantee,
    )


def _at(games: Sequence[GameScores], rate: float, alpha: float) -> MeanOverRepeats | None:
    rates = [game.tpr_at(rate) for game in games]
    resolved = [tpr for tpr in rates if tpr is not None]
    return MeanOverRepeats.of(resolved, alpha) if len(resolved) == len(rates) else None


def _verdict(advantage: MeanOverRepeats, ceiling: Ceiling, alpha: float) -> str:
    if ceiling.advantage is None:
        return "no claim"
    if advantage.repeats < FEWEST_REPEATS or advantage.standard_error is None:
        return "too few repeats"
    least = advantage.mean - t_quantile(advantage.repeats, alpha) * advantage.standard_error
    return "violated" if least > ceiling.advantage else "consistent"
