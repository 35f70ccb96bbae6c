"""WaveCluster: clusters of any shape from the cells of a grid, plain and private."""

from typing import Any, Literal, Self

from shoal.cluster.noise_sum import NoiseSum
from shoal.cluster.wave.clustering import clustered, released_grid
from shoal.cluster.wave.components import Connectivity
from shoal.cluster.wave.fitted import FittedWave
from shoal.cluster.wave.methods.dispatch import run_dense, run_sparse
from shoal.cluster.wave.methods.privqt import CellNoise
from shoal.cluster.wave.methods.purse import Purse
from shoal.cluster.wave.noise import NoisyGrid
from shoal.cluster.wave.settings import AskedCells, Method, Rule, Selector, Settings
from shoal.cluster.wave.transform import Transform
from shoal.domain import Box, Schema
from shoal.engine import Rows
from shoal.estimator import WAVE_ROW_COUNT_SHARE, Spending, box_of
from shoal.mechanisms import Geometric
from shoal.privacy import Ledger, PureDP, Unprotected
from shoal.privacy.page import Page
from shoal.randomness import Randomness, Seed
from shoal.synopsis import UniformGrid
from shoal.synopsis.uniform_grid import grid_name

__all__ = ["WaveCluster"]


class WaveCluster(FittedWave):
    r"""Find clusters of any shape, and publish them as labelled cells.

    Rows are counted in the cells of a grid; a wavelet's average may smooth and halve it; cells
    that stand out and touch are a cluster. Row labels are not published: a vector of them shows
    each row's cell. The holder of the rows calls ``predict``.

    Guarantee
    ---------
    With ``epsilon``, :math:`\varepsilon`-DP when a row is added or removed (or as ``neighbours``
    and ``max_rows_per_person`` say): see ``block.proof.md``, and a proof beside each other method.
    Without it, ``Unprotected``.

    Parameters
    ----------
    domain, epsilon
        Public bounds, to which rows are moved; the budget of one ``fit``, or None for plain
        WaveCluster.
    method
        "block" puts noise on the coefficients at the whole budget, and does the rest as
        post-processing. "privqt", "privthr", "privthrem" (its threshold corrected) and "baseline"
        (synthetic points from an adaptive grid) are the published ones. Noise on every point is
        another promise, and of no use here: ``Perturb`` the rows, then fit without epsilon.
    cells
        Cells along each axis, one number or one an axis, chosen without the rows. "auto":
        :math:`c (n \min(\varepsilon, 4)/10)^{1/d}`, n the noisy number of rows and c 3 for
        the automatic selector, 1.5 for others; at least 12 (6 from four columns on) and at most
        128 (64 in three columns) for the automatic selector, 256 for others.
    level, wavelet
        How often the grid is halved, by which discrete wavelet of PyWavelets.
    selector
        What makes a cell part of a cluster. "persistence": peaks that rise ``z`` standard errors
        above the passes between them, after smoothing by ``smooth`` cells (or "auto").
        "percentile": the ``p``-quantile of cells that have rows. "density": so many times the mean.
        "mass": the densest cells that hold this share of all rows. "auto": peaks at the scale, and
        cut at the significance, that the noisy grid itself suggests. None: percentile if plain,
        auto if private, density on sparse grids.
    z, p, density, mass, smooth
        The selector's setting: by default 3, 0.5, 1, 0.9 and 1 cell.
    rule, context
        "posterior": for the percentile, cells whose true count more likely than not reaches it,
        judged with their neighbours if ``context``.
    min_cells, connectivity
        The fewest cells of a cluster; whether cells touch by corners too ("full", the default up
        to four columns) or by "faces".
    alpha, noise
        The share of the budget for the cells in "privthr" (0.9) and "privthrem" (0.7); "laplace"
        or "geometric" noise on them.
    n_public, nonfinite, ledger, random_state
        As for every private estimator: see ``shoal.synopsis.PrivateEstimator``.

    Attributes
    ----------
    cell_labels_, noisy_counts_
        Cluster and released count of each cell, -1 for no cluster: shaped like the grid, or, on
        sparse grids, one for each of ``cell_keys_``.
    n_clusters_, cluster_sizes_, boxes_
        How many; their noisy numbers of rows, the largest first; lowest and highest corner of each.
    n_rows_, n_rows_within_, rows_outside_
        The number of rows, noisy unless it is public, and what noise moves it by at most in 95 of
        100 releases; how many are in no cluster. Clusters and these add up to ``n_rows_``.
    groups_told_, rows_told_, size_reach_
        Whether each cluster, and the table, can be told from nobody; what noise alone would count
        in each, in one of 1,000 releases of a table of nobody. Where none can be told, or none was
        found, ``fit`` warns with ``shoal.errors.NoGroupsTold``.
    threshold_, tree_
        The level that was used; peaks and passes, from which other cuts can be read.
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
        method: Method = "block",
        cells: AskedCells = "auto",
        level: int = 0,
        wavelet: str = "haar",
        selector: Selector | None = None,
        z: float | None = None,
        p: float | None = None,
        density: float | None = None,
        mass: float | None = None,
        smooth: float | Literal["auto"] | None = None,
        rule: Rule = "threshold",
        context: bool = False,
        min_cells: int = 3,
        connectivity: Connectivity | None = None,
        alpha: float | None = None,
        noise: CellNoise | None = None,
        n_public: int | None = None,
        nonfinite: Literal["refuse", "drop"] = "refuse",
        ledger: Ledger | None = None,
        random_state: Seed = None,
    ) -> None:
        self.domain = domain
        self.epsilon = epsilon
        self.privacy = privacy
        self.method = method
        self.cells = cells
        self.level = level
        self.wavelet = wavelet
        self.selector = selector
        self.z = z
        self.p = p
        self.density = density
        self.mass = mass
        self.smooth = smooth
        self.rule = rule
        self.context = context
        self.min_cells = min_cells
        self.connectivity = connectivity
        self.alpha = alpha
        self.noise = noise
        self.n_public = n_public
        self.nonfinite = nonfinite
        self.ledger = ledger
        self.random_state = random_state

    @classmethod
    def from_synopsis(cls, synopsis: UniformGrid, **settings: Any) -> Self:
        """Cluster a grid that was released before: no rows are read, and nothing is spent.

        Parameters
        ----------
        synopsis
            A fitted ``UniformGrid``.
        **settings
            Those that read a released grid: selector, z, p, density, mass, smooth, min_cells,
            connectivity.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.repeat([[0.2, 0.2], [0.8, 0.8]], 500, axis=0)
        >>> X += np.linspace(0, 0.1, 1000)[:, None]
        >>> grid = UniformGrid(epsilon=1, domain=Box.unit(2), cells=16, random_state=7).fit(X)
        >>> WaveCluster.from_synopsis(grid, min_cells=1).n_clusters_
        2
        """
        released = released_grid(synopsis)
        model = cls(
            domain=synopsis.domain,
            epsilon=synopsis.epsilon,
            privacy=synopsis.privacy,
            cells=released.shape,
            **settings,
        )
        model.n_rows_, model.guarantee_ = synopsis.n_rows_, synopsis.guarantee_
        noisy, found, keys = clustered(released, Settings.of(model, released.grid.box))
        return model._publish(Transform(released.shape), released.grid, noisy, found, keys)

    @property
    def is_private(self) -> bool:
        """Whether it promises anything: plain WaveCluster does not."""
        return not isinstance(self._promise(), Unprotected)

    def _promise(self) -> Any:
        if self.epsilon is None and self.privacy is None:
            return Unprotected("WaveCluster without epsilon publishes counts as they are.")
        return super()._promise()

    def _release_name(self, rows: Rows) -> str:
        return f"shapes on {grid_name(self.cells, box_of(rows, None))}"

    def spend(self, spending: Spending) -> Self:
        """Do the work of ``fit`` on somebody's page, for this share of its budget."""
        rows, page, budget, rng = spending.rows, spending.page, spending.budget, spending.rng
        box = spending.box
        settings = Settings.of(self, box)
        self.n_rows_, budget, noise = self._paid_size(settings, rows, page, budget, rng)
        epsilon = 4.0 if settings.method == "plain" else float(budget.epsilon)
        grid = settings.grid(box, self.n_rows_ or 1, epsilon)
        transform = Transform(grid.shape, settings.level, settings.wavelet)
        purse, n_rows = Purse(page, budget, rng.noise), self.n_rows_ or 1
        if settings.sparse:
            kept, found = run_sparse(rows, grid, transform.shape_out, n_rows, settings, purse)
            variance = 0.0 if settings.method == "plain" else Geometric(budget).variance
            listed = NoisyGrid(kept.counts, variance)
            return self._publish(transform, grid, listed, found, kept.keys, rows_noise=noise)
        noisy, found = run_dense(rows, grid, transform, n_rows, settings, purse, rng)
        return self._publish(transform, grid, noisy, found, rows_noise=noise)

    def _paid_size(
        self, settings: Settings, rows: Rows, page: Page, budget: Any, rng: Randomness
    ) -> tuple[int | None, Any, NoiseSum | None]:
        """The number of rows where it is needed, what is left of the budget, and its noise."""
        known = self._known_size(rows)
        needed = isinstance(settings.cells, str) or settings.sparse
        if known is not None or not (needed or settings.method == "baseline"):
            return known, budget, None
        if settings.method == "plain":
            return max(1, rows.size()), budget, None
        Geometric(budget)  # a budget beyond what noise can keep is refused before a release
        share = budget * WAVE_ROW_COUNT_SHARE
        size = Spending(rows, page, share, rng).count_rows()
        return size, budget * (1 - WAVE_ROW_COUNT_SHARE), NoiseSum.geometric(float(share.epsilon))
