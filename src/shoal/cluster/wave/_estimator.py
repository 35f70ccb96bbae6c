"""Private and plain WaveCluster: find clusters of any shape on the cells of a grid."""

from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from shoal.arrays import Integers
from shoal.bounds_check import Clipping
from shoal.cluster.group_sizes import NoiseSum, noise_of_rows
from shoal.cluster.wave._fitted import FittedWave
from shoal.cluster.wave._grouping import Percentile, Selector
from shoal.cluster.wave._noise import NoiseLaw, NoisyGrid, NoNoise
from shoal.cluster.wave._release_methods import Block, Method, ThresholdMethod, count_blocks
from shoal.cluster.wave._segmentation import Connectivity, LabelledCells
from shoal.cluster.wave._settings import Cells, MethodName, SelectorName, Settings
from shoal.cluster.wave._thresholds import label_above, label_listed
from shoal.cluster.wave._transform import Transform
from shoal.domain import Box, Grid, Schema, SparseCounts
from shoal.engine import Rows
from shoal.errors import ConflictingSettings, InvalidSetting, setting, value_text
from shoal.estimator import WAVE_ROW_COUNT_SHARE, Spending, box_of
from shoal.mechanisms import Geometric
from shoal.privacy import LedgerOrPath, PureDP, Unprotected
from shoal.randomness import Seed
from shoal.synopsis import UniformGrid
from shoal.synopsis.uniform_grid import grid_name

# Without noise, automatic cells are chosen as for this epsilon: docs/decisions/wave-selector.md.
_AS_IF_PLAIN = 4.0

_EXAMPLES = {"variant": "PrivTHR(alpha=0.5)", "selector": "Persistence(z=2)"}


class WaveCluster(FittedWave):
    r"""Find clusters of any shape, and publish them as labelled cells.

    Rows are counted in the cells of a grid; a wavelet's average may smooth and halve it; cells
    that stand out and touch are a cluster. Row labels are not published: a vector of them shows
    each row's cell. The holder of the rows calls ``predict``.

    Guarantee
    ---------
    :math:`\varepsilon`-DP when a row is added or removed, or as ``privacy`` and a schema say: see
    ``release_methods.proof.md``. Plain WaveCluster promises nothing, and is asked for by
    ``privacy=Unprotected("why")``.

    Parameters
    ----------
    domain
        Public bounds, to which rows are moved; a schema also says whose each row is.
    epsilon
        The budget of one ``fit``, short for ``privacy=PureDP(epsilon)``.
    privacy
        The whole promise, where more than epsilon is to be said; ``Unprotected("why")`` for plain
        WaveCluster. Give one of the two.
    variant
        Where the noise goes. "block" puts it on the coefficients at the whole budget, and does the
        rest as post-processing. "privqt", "privthr", "privthrem" (its threshold corrected) and
        "baseline" (synthetic points from an adaptive grid) are the published ones; their settings
        are given as ``PrivQT(noise=)``, ``PrivTHR(alpha=, noise=)``, ``PrivTHREM(alpha=, noise=)``.
        Noise on every point is another promise, and of no use here: ``Perturb`` the rows, then fit
        plain WaveCluster.
    cells
        Cells along each axis, one number or one an axis, chosen without the rows. "auto", for the
        automatic selector up to two columns: so many that its filter keeps the mean count clear of
        sampling and noise; else :math:`c (n \min(\varepsilon, 4)/10)^{1/d}`, n the noisy number of
        rows and c 3 for the automatic selector, 1.5 for others. At least 12 (6 from four columns
        on) and at most 128 (64 in three columns) for the automatic selector, 256 for others.
    level
        How many times the wavelet halves the grid.
    wavelet
        The name of a discrete wavelet of PyWavelets.
    selector
        The rule that says which cells belong to clusters: "auto", "persistence", "percentile",
        "density" or "mass"; with settings, ``Persistence(z=, smooth=)``, ``Percentile(p=, rule=,
        context=)``, ``Density(times=)``, ``Mass(share=)``. None: percentile if plain, auto if
        private, density on sparse grids.
    min_cells
        The fewest cells of a cluster.
    connectivity
        Whether cells touch by corners too ("full", the default up to four columns) or by "faces".
    clipping
        "stop" refuses bounds that many rows lie outside of; "accept" goes on and says so.
    n_public
        The number of rows, if it is known without them; never read it off the rows.
    nonfinite
        What NaN does: "refuse" the table, or "drop" the row.
    ledger
        Where the promise is recorded and added up: a ``Ledger`` or the path of its file; None
        keeps no record.
    random_state
        A seed makes a simulation, marked as such; None draws real noise.

    Attributes
    ----------
    cell_labels_
        The cluster of each cell, -1 for none: shaped like the grid, or, on sparse grids, one for
        each of ``cell_keys_``.
    noisy_counts_
        The released count of each cell, in the same order.
    cell_keys_
        The cells that a sparse grid lists, by number; None on a full grid.
    n_clusters_
        The number of clusters.
    cluster_sizes_
        The noisy number of rows of each cluster, the largest first.
    boxes_
        The lowest and the highest corner of each cluster.
    n_rows_
        The number of rows, noisy unless it is public.
    n_rows_within_
        The distance within which the noisy number lies of the true one in 95 of 100 releases.
    rows_outside_
        The noisy number of rows in no cluster; it and the clusters add up to ``n_rows_``.
    is_certain_
        Whether each cluster holds more rows than noise alone would count in it. Where none can, or
        there is none, ``fit`` warns with ``shoal.errors.NoGroupsDetected``.
    rows_detected_
        Whether the table holds more rows than noise alone would count.
    noise_sizes_
        What noise alone would count in each cluster, in one of 1,000 releases of a table of nobody.
    threshold_
        The least coefficient of a cell in a cluster.
    tree_
        Peaks and passes, which other cuts can be applied to.
    guarantee_
        What was promised to each person.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 2 * np.pi, 9000)
    >>> radius = rng.normal([0.4, 0.1, 0.4], 0.03, (3000, 3)).reshape(-1, 1)
    >>> X = 0.5 + radius * np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = WaveCluster(domain=Box.unit(2), epsilon=1, random_state=7).fit(X)
    >>> model.n_clusters_, model.predict([[0.5, 0.9], [0.5, 0.1], [0.5, 0.7]]).tolist()
    (2, [0, 0, -1])

    References
    ----------
    Sheikholeslami, Chatterjee, Zhang, WaveCluster: a multi-resolution clustering approach for very
    large spatial databases, VLDB 1998; Chen, Yu, Chirkova, WaveCluster with differential privacy,
    CIKM 2015.
    """

    _promises = (PureDP, Unprotected)

    def __init__(
        self,
        *,
        domain: Box | Schema | None = None,
        epsilon: Any = None,
        privacy: PureDP | Unprotected | None = None,
        variant: MethodName | Method = "block",
        cells: Cells = "auto",
        level: int = 0,
        wavelet: str = "haar",
        selector: SelectorName | Selector | None = None,
        min_cells: int = 3,
        connectivity: Connectivity | None = None,
        clipping: Clipping = "stop",
        n_public: int | None = None,
        nonfinite: Literal["refuse", "drop"] = "refuse",
        ledger: LedgerOrPath | None = None,
        random_state: Seed = None,
    ) -> None:
        self.domain = domain
        self.epsilon = epsilon
        self.privacy = privacy
        self.variant = variant
        self.cells = cells
        self.level = level
        self.wavelet = wavelet
        self.selector = selector
        self.min_cells = min_cells
        self.connectivity = connectivity
        self.clipping = clipping
        self.n_public = n_public
        self.nonfinite = nonfinite
        self.ledger = ledger
        self.random_state = random_state

    @classmethod
    def from_synopsis(cls, synopsis: UniformGrid, **settings: Any) -> Self:
        """Cluster a grid that was released before; no rows are read and nothing is spent.

        Parameters
        ----------
        synopsis
            A fitted ``UniformGrid``.
        **settings
            Settings that apply to a released grid: selector, min_cells, connectivity.

        Returns
        -------
        A fitted model with the guarantee of the synopsis.

        Raises
        ------
        InvalidSetting
            If the synopsis is no uniform grid of the columns themselves.
        ConflictingSettings
            If a setting asks for noise or a transform, which the synopsis has already.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.repeat([[0.2, 0.2], [0.8, 0.8]], 500, axis=0)
        >>> X += np.linspace(0, 0.1, 1000)[:, None]
        >>> grid = UniformGrid(epsilon=1, domain=Box.unit(2), cells=16, random_state=7).fit(X)
        >>> WaveCluster.from_synopsis(grid, min_cells=1).n_clusters_
        2
        """
        released = ReleasedGrid.of(synopsis)
        model = cls(
            domain=synopsis.domain,
            epsilon=synopsis.epsilon,
            privacy=synopsis.privacy,
            cells=released.grid.shape,
            **settings,
        )
        model.n_rows_, model.guarantee_ = synopsis.n_rows_, synopsis.guarantee_
        model.bounds_check_ = synopsis.bounds_check_
        noisy, clustering, keys = released.cluster(Settings.of(model, released.grid.box))
        transform = Transform(released.grid.shape)
        return model._publish(transform, released.grid, noisy, clustering, keys)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of a variant or selector by names such as ``selector__z``.

        Raises
        ------
        InvalidSetting
            If the variant or selector is named by a short text, which has no parameters to set.
        """
        for name in params:
            group, _, option = name.partition("__")
            if option and group in _EXAMPLES:
                _check_has_options(name, params.get(group, getattr(self, group)))
        return super().set_params(**params)  # type: ignore[no-any-return]

    def spend(self, spending: Spending) -> Self:
        """Fit within a budget that the caller opened.

        Parameters
        ----------
        spending
            The caller's rows, ledger page, budget and noise.
        """
        settings = Settings.of(self, spending.box)
        if not settings.is_private:
            # It raises on a page with a promise, before a row is read.
            NoNoise(spending.budget)
        method, selector = settings.method, settings.selector
        connectivity, min_cells = settings.connectivity, settings.min_cells
        # 1. Count the rows, where the number of cells or a level depends on it.
        spending, rows_noise = self._checked_rows(spending, settings)
        self.n_rows_, n_rows = spending.n_rows, spending.n_rows or 1
        # 2. Divide the box into cells.
        epsilon = spending.epsilon if settings.is_private else _AS_IF_PLAIN
        grid = settings.grid(spending.box, n_rows, epsilon)
        transform = Transform(grid.shape, settings.level, settings.wavelet)
        if settings.is_sparse:
            return self._spend_on_sparse(spending, settings, grid, transform, rows_noise)
        # 3. Count the rows in each cell; 4. transform the counts, with noise before or after.
        counts = method.count_cells(spending, grid)
        noisy = method.release(spending, counts, transform)
        # 5. Select the cells that stand out; 6. connect those that touch.
        if isinstance(method, ThresholdMethod):
            level = method.release_threshold(spending, counts, transform, noisy, settings.p)
            level = settings.percentile.least(level)
            clustering = label_above(noisy, level, connectivity, min_cells)
        else:
            clustering = selector.label(noisy, connectivity, min_cells)
        # 7. Map the labels back to the box.
        return self._publish(transform, grid, noisy, clustering, rows_noise=rows_noise)

    def _spend_on_sparse(
        self,
        spending: Spending,
        settings: Settings,
        grid: Grid,
        transform: Transform,
        rows_noise: NoiseSum | None,
    ) -> Self:
        """Do steps 3 to 7 on a grid of too many cells to make them all."""
        law = NoiseLaw(spending.epsilon) if settings.is_private else None
        variance = Geometric(spending.budget).variance if settings.is_private else 0.0
        # 3. Count the rows in each occupied block; 4. release those that stand out.
        counts = count_blocks(spending.rows, grid, settings.level)
        cells = settings.method.release_sparse(spending, counts)
        # 5. Select the cells that stand out clearly; 6. connect those that touch.
        level = settings.selector.listed_level(cells, law, spending.n_rows or 1)
        connectivity, min_cells = settings.connectivity, settings.min_cells
        clustering = label_listed(cells, transform.shape_out, level, connectivity, min_cells)
        # 7. Map the labels back to the box.
        noisy = NoisyGrid(cells.counts, variance)
        return self._publish(transform, grid, noisy, clustering, cells.keys, rows_noise)

    def _checked_rows(
        self, spending: Spending, settings: Settings
    ) -> tuple[Spending, NoiseSum | None]:
        """Release the rows inside and outside the bounds; without a promise, count what is needed.

        Returns
        -------
        What is left to spend, with the number; and the law of its noise, if it has any.
        """
        if settings.is_private:
            # It raises for a budget that geometric noise cannot keep, before any is spent.
            Geometric(spending.budget)
            row_count = self._count_rows(spending, WAVE_ROW_COUNT_SHARE)
            return spending.after(row_count), noise_of_rows(row_count)
        known = spending.n_rows or self._known_size(spending)
        if known is None and settings.needs_row_count:
            known = max(1, spending.rows.size())
        return replace(spending, n_rows=known), None

    def _release_name(self, rows: Rows) -> str:
        return f"shapes on {grid_name(self.cells, box_of(rows, None))}"


@dataclass(frozen=True, eq=False)
class ReleasedGrid:
    """The cells that a synopsis released, and their grid.

    Parameters
    ----------
    synopsis
        A fitted ``UniformGrid``.
    """

    synopsis: UniformGrid
    grid: Grid

    @classmethod
    def of(cls, synopsis: Any) -> "ReleasedGrid":
        """Check that a synopsis is a fitted uniform grid, and reconstruct its grid.

        Parameters
        ----------
        synopsis
            A fitted ``UniformGrid``; other synopses have cells of many sizes.
        """
        if not isinstance(synopsis, UniformGrid):
            raise InvalidSetting(
                f"Clusters need cells of equal size; got {value_text(synopsis)}.",
                "Give a fitted UniformGrid.",
            )
        check_is_fitted(synopsis)
        if synopsis.view_ is not None:
            raise InvalidSetting(
                "The synopsis was counted through a view.", "Fit one on the columns themselves."
            )
        box, cells = synopsis.box, synopsis.cells_
        assert box is not None  # it was fitted
        if len(cells):
            side = cells.high[0] - cells.low[0]
            shape = np.rint((box.high - box.low) / side).astype(int).tolist()
        else:
            shape = [round(synopsis.n_cells_ ** (1 / box.d))] * box.d
        return cls(synopsis, Grid(box, shape))

    def cluster(self, settings: Settings) -> tuple[NoisyGrid, LabelledCells, Integers | None]:
        """Cluster the cells; those that were not released count as empty.

        Returns
        -------
        The grid or list of cells, their clusters, and the keys of listed cells.
        """
        _check_reads_counts_only(settings)
        cells, variance = self.synopsis.cells_, self.synopsis.noise_variance
        connectivity, min_cells = settings.connectivity, settings.min_cells
        if settings.is_sparse:
            listed = SparseCounts(cells.key, cells.noisy_count, self.grid.size)
            law = NoiseLaw.of_variance(variance)
            level = settings.selector.listed_level(listed, law, self.synopsis.n_rows_)
            clustering = label_listed(listed, self.grid.shape, level, connectivity, min_cells)
            return NoisyGrid(listed.counts), clustering, listed.keys
        values = np.zeros(self.grid.size)
        values[cells.key] = cells.weight
        noisy = NoisyGrid(values.reshape(self.grid.shape), variance)
        return noisy, settings.selector.label(noisy, connectivity, min_cells), None


def _check_reads_counts_only(settings: Settings) -> None:
    has_rule = isinstance(settings.selector, Percentile) and settings.selector.rule == "posterior"
    if has_rule or not isinstance(settings.method, Block) or settings.level:
        raise ConflictingSettings(
            "A synopsis already has its counts and their noise.",
            "Leave out variant, level and rule.",
        )


def _check_has_options(name: str, options: object) -> None:
    if options is None or isinstance(options, str):
        group = name.partition("__")[0]
        raise InvalidSetting(
            setting(name) + f" cannot be set: {group} is {value_text(options)}, not an object.",
            f"Give it as an object first, e.g. {group}={_EXAMPLES[group]}.",
        )
