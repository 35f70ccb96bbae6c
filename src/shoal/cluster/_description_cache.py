"""What is computed from a release after its fit: once, kept with the model and in its folder."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from shoal.cluster.intervals._result import Intervals

DESCRIPTION = "description.json"
_Part = TypeVar("_Part")


class ComputedOnce:
    """Mixin of fitted models: what was computed from a fit is kept until the next one."""

    # The released thing that each fit makes anew, by its name, and what was computed from it.
    _made_by_fit = "cluster_centers_"
    _computed: tuple[Any, dict[str, Any]] | None = None

    def _compute_once(self, name: str, compute: Callable[[], _Part]) -> _Part:
        """Return a part that was computed of this fit or loaded with it, or compute it now."""
        parts = self._computed_parts()
        if name not in parts:
            parts[name] = compute()
        part: _Part = parts[name]
        return part

    def _saved_description(self) -> dict[str, Any] | None:
        """Return what ``shoal.describe`` computed, as plain values; None if nothing."""
        return self._computed_parts().get("description")

    def _restore_description(self, values: Mapping[str, Any]) -> None:
        """Take what was saved in place of computing it."""
        parts = self._computed_parts()
        if values["intervals"] is not None:
            parts["intervals"] = Intervals.of(values["intervals"])
        parts["description"] = dict(values)

    def _computed_parts(self) -> dict[str, Any]:
        made = getattr(self, self._made_by_fit)
        if self._computed is None or self._computed[0] is not made:
            self._computed = made, {}
        return self._computed[1]
