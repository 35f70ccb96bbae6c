"""Pipeline stages: estimators with Params, and models that are saved to folders.

    from shoal import spark_ml

    groups = spark_ml.PrivateKMeans(n_clusters=8, epsilon=1, domain=Box(age=(0, 110)))
    model = Pipeline(stages=[cleaning, groups]).fit(rows)
    model.write().overwrite().save("hdfs:///models/visits")

Params have the names, meanings and defaults of the estimators they stand for; ``fit`` pays once.
What is saved is JSON, CSV and Parquet, never pickle.
"""

from collections.abc import Callable
from dataclasses import replace
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, ClassVar, Self

from pyspark.ml import Estimator, Model, Transformer
from pyspark.ml.param import Param, Params
from pyspark.ml.param.shared import HasPredictionCol
from pyspark.ml.util import (
    DefaultParamsReader,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)

from shoal import anonymize, cluster, perturb
from shoal.anonymize import policy_of
from shoal.cluster import load_model, write_model
from shoal.cluster.wave import grouped_settings
from shoal.engine import rows_of
from shoal.engine.spark import files_of, hidden_name_beside, translate_errors
from shoal.errors import AlreadyExists, InvalidSetting, UnreadableModel
from shoal.files import scratch
from shoal.spark_ml._persistence import from_json, load_cut, save_cut, to_json

HOLDER = {"shoal": {"for": "the holder of the rows alone", "publishable": False}}
"""The metadata of columns that only the holder of the rows may see."""
_FOLDER = "shoal"


def _params_of(kind: Any, *names: str) -> Callable[[Any], Any]:
    """Return a decorator that declares a Param for each setting of an embedded estimator."""

    def declare(stage: Any) -> Any:
        stage.settings = {
            n: of for n, of in signature(kind).parameters.items() if n in names or not names
        }
        for name in stage.settings:
            description = f"{name} of shoal.{kind.__name__}"
            setattr(stage, name, Param(Params._dummy(), name, description))
        return stage

    return declare


class _Savable(Params, MLWritable, MLReadable):  # type: ignore[misc]
    """Base of stages that are saved to any path Spark reaches: Params as JSON, fits as files."""

    def write(self) -> "_Writer":
        """Return the writer: ``stage.write().overwrite().save(path)``."""
        return _Writer(self)

    def save(self, path: str) -> None:
        """Save the stage to a path that does not exist yet."""
        self.write().save(path)

    @classmethod
    def read(cls) -> "_Reader":
        """Return the reader."""
        return _Reader(cls)

    @classmethod
    def load(cls, path: str) -> Self:
        """Load a stage that was saved."""
        stage: Self = cls.read().load(path)
        return stage

    @classmethod
    def _upgrade_params(cls, params: dict[str, Any]) -> dict[str, Any]:
        """Rename Params that an earlier version saved as this version names them."""
        return params

    def _write_fit(self, folder: Path) -> None:
        """Write what was fitted; a stage of settings only writes nothing."""

    def _read_fit(self, folder: Path) -> None:
        """Read what was fitted."""


class _Stage(_Savable):
    """Base of stages whose settings are Params."""

    settings: ClassVar[dict[str, Parameter]]

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        empty = Parameter.empty
        defaults = {
            n: None if of.default is empty else of.default for n, of in self.settings.items()
        }
        self._setDefault(**defaults)
        self.setParams(**settings)

    def setParams(self, **settings: Any) -> Self:  # noqa: N802 - as everywhere in pyspark.ml
        """Set several Params."""
        unknown = [name for name in settings if not self.hasParam(name)]
        if unknown:
            raise InvalidSetting(
                f"{type(self).__name__} has no setting {unknown[0]!r}.",
                f"It has {', '.join(param.name for param in self.params)}.",
            )
        return self._set(**settings)  # type: ignore[no-any-return]

    def _embedded_settings(self) -> dict[str, Any]:
        """Return the settings for the embedded estimator."""
        return {name: self.getOrDefault(name) for name in self.settings}


class _Clusterer(_Stage, HasPredictionCol, Estimator):  # type: ignore[misc]
    """Base of estimators whose model labels rows."""

    _embedded: ClassVar[Any]
    _fitted: ClassVar[Any]

    def _fit(self, dataset: Any) -> Any:
        model = self._fitted(self._embedded(**self._embedded_settings()).fit(dataset))
        return self._copyValues(model._resetUid(self.uid))


class _Labelling(_Savable, HasPredictionCol, Model):  # type: ignore[misc]
    """Base of models that label rows, in a column marked as for their holder only.

    Parameters
    ----------
    fitted
        The embedded model, of which everything may be published.
    """

    def __init__(self, fitted: Any = None) -> None:
        super().__init__()
        self.fitted = fitted

    def _transform(self, dataset: Any) -> Any:
        name = self.getPredictionCol()
        rows: Any = rows_of(dataset, self._row_domain())
        labelled = rows.map(self.fitted._labels(), [name]).like_input()
        return labelled.withMetadata(name, HOLDER)

    def _row_domain(self) -> Any:
        """Return what is public about rows to label, whoever they belong to."""
        return self.fitted.box

    def _write_fit(self, folder: Path) -> None:
        write_model(self.fitted, folder)

    def _read_fit(self, folder: Path) -> None:
        self.fitted = load_model(folder)


class PrivateKMeansModel(_Labelling):
    """A fitted ``PrivateKMeans``: centres may be published, labels of rows are for the holder."""


@_params_of(cluster.PrivateKMeans)
class PrivateKMeans(_Clusterer):
    """`shoal.cluster.PrivateKMeans` as a pipeline stage; its settings are the Params.

    Guarantee
    ---------
    That of the embedded estimator, once for each ``fit``; ``model.fitted.guarantee_`` says it. A
    cross-validation pays for every fit: give a ``ledger`` with a limit.

    Parameters
    ----------
    **settings
        Those of the embedded estimator, ``ledger`` also as the path of its file; and
        ``predictionCol``.
    """

    _embedded, _fitted = cluster.PrivateKMeans, PrivateKMeansModel


class PrivateKPrototypesModel(_Labelling):
    """A fitted ``PrivateKPrototypes``: profiles may be published, labels are for the holder."""

    def _row_domain(self) -> Any:
        return replace(self.fitted.domain, person=None, max_rows_per_person=None)


@_params_of(cluster.PrivateKPrototypes)
class PrivateKPrototypes(_Clusterer):
    """`shoal.cluster.PrivateKPrototypes` as a pipeline stage; its settings are the Params.

    Guarantee
    ---------
    That of the embedded estimator, once for each ``fit``.

    Parameters
    ----------
    **settings
        Those of the embedded estimator, ``ledger`` also as the path of its file; and
        ``predictionCol``.
    """

    _embedded, _fitted = cluster.PrivateKPrototypes, PrivateKPrototypesModel


class WaveClusterModel(_Labelling):
    """A fitted ``WaveCluster``: cells may be published, labels of rows are for the holder."""


@_params_of(cluster.WaveCluster)
class WaveCluster(_Clusterer):
    """`shoal.cluster.WaveCluster` as a pipeline stage; its settings are the Params.

    Guarantee
    ---------
    That of the embedded estimator, once for each ``fit``.

    Parameters
    ----------
    **settings
        Those of the embedded estimator, ``ledger`` also as the path of its file; and
        ``predictionCol``.
    """

    _embedded, _fitted = cluster.WaveCluster, WaveClusterModel

    @classmethod
    def _upgrade_params(cls, params: dict[str, Any]) -> dict[str, Any]:
        return grouped_settings(params)


class TopDownSpecializationModel(_Savable, Model):  # type: ignore[misc]
    """A fitted specialization: publishes rows under its cut, and recounts what comes out.

    Set ``new_people = True`` to state that nobody of the next table was in an earlier release,
    which a second one, or a model that was loaded, needs where people cannot be compared.

    Parameters
    ----------
    fitted
        The embedded estimator.
    """

    new_people = False

    def __init__(self, fitted: Any = None) -> None:
        super().__init__()
        self.fitted = fitted

    def _transform(self, dataset: Any) -> Any:
        return self.fitted.transform(dataset, self.new_people)

    def _write_fit(self, folder: Path) -> None:
        save_cut(self.fitted, folder)

    def _read_fit(self, folder: Path) -> None:
        self.fitted = load_cut(folder)


@_params_of(anonymize.TopDownSpecialization, "policy")
class TopDownSpecialization(_Stage, Estimator):  # type: ignore[misc]
    """`shoal.anonymize.TopDownSpecialization` as a pipeline stage.

    Guarantee
    ---------
    k-anonymity of what the model's ``transform`` returns, counted again there.

    Parameters
    ----------
    policy
        A policy, its content, or the path of its file.
    **settings
        Those of the embedded estimator instead.
    """

    def __init__(self, policy: Any = None, **settings: Any) -> None:
        if settings:
            policy = anonymize.TopDownSpecialization(policy=policy, **settings).to_policy()
        super().__init__(policy=policy)

    def _fit(self, dataset: Any) -> Any:
        policy = policy_of(self.getOrDefault("policy"))
        fitted = anonymize.TopDownSpecialization(policy=policy).fit(dataset)
        return TopDownSpecializationModel(fitted)._resetUid(self.uid)


@_params_of(perturb.Perturb, "mechanism", "remap", "ledger", "random_state")
class Perturb(_Stage, Transformer):  # type: ignore[misc]
    """`shoal.Perturb` as a pipeline stage: reports of the mechanism's columns, and no others.

    Every ``transform`` draws new reports and is paid for, so a pipeline that is fitted and then
    transforms reports everybody twice. Report once, write the reports, and continue from there.

    Guarantee
    ---------
    The mechanism's, for each ``transform``; it stands in the metadata of every column.

    Parameters
    ----------
    **settings
        ``mechanism``, ``remap``, ``ledger`` (also as the path of its file), ``random_state``.
    """

    def _transform(self, dataset: Any) -> Any:
        reporting = perturb.Perturb(**self._embedded_settings()).fit(dataset)
        reports, guarantee = reporting.transform(dataset), reporting.guarantee_.to_dict()
        for name in reports.columns:
            reports = reports.withMetadata(name, {"shoal": {"guarantee": guarantee}})
        return reports


class _Writer(MLWriter):  # type: ignore[misc]
    """Writes a stage completely or not at all: to a temporary folder, which is then renamed."""

    def __init__(self, stage: _Savable) -> None:
        super().__init__()
        self._stage = stage

    def save(self, path: str) -> None:
        """Save the stage; an existing one is replaced only after ``overwrite()``."""
        session, stage = self.sparkSession, self._stage
        files, part = files_of(session), hidden_name_beside(path)
        if files.exists(path) and not self.shouldOverwrite:
            raise AlreadyExists(
                f"{path} exists already.", "Choose another, or write().overwrite()."
            )
        params = {param.name: to_json(param.name, of) for param, of in stage._paramMap.items()}
        try:
            with translate_errors("saving a stage"), scratch() as near:
                DefaultParamsWriter.saveMetadata(stage, part, session, paramMap=params)
                (near / _FOLDER).mkdir()
                stage._write_fit(near / _FOLDER)
                if any((near / _FOLDER).iterdir()):  # an empty folder is none in a bucket
                    files.upload(near / _FOLDER, f"{part}/{_FOLDER}")
            files.rename(part, path)
        finally:
            files.delete(part)


class _Reader(MLReader):  # type: ignore[misc]
    """Reads a stage of one class, and of no other that a folder might name."""

    def __init__(self, kind: type[_Savable]) -> None:
        super().__init__()
        self._kind = kind

    def load(self, path: str) -> Any:
        """Load a stage that was saved."""
        files, folder = files_of(self.sparkSession), path.rstrip("/")
        if not files.exists(f"{folder}/metadata"):
            raise UnreadableModel(f"{path} holds no stage.", "Name the folder that `save` wrote.")
        with translate_errors("loading a stage"), scratch() as near:
            stage = self._load_settings(path)
            if files.exists(f"{folder}/{_FOLDER}"):
                files.download(f"{folder}/{_FOLDER}", near / _FOLDER)
            stage._read_fit(near / _FOLDER)
        return stage

    def _load_settings(self, path: str) -> _Savable:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        name = f"{self._kind.__module__}.{self._kind.__name__}"
        if metadata["class"] != name:
            raise UnreadableModel(f"{path} holds no {name}.", "Load it with its own class.")
        stage = self._kind()
        stage._resetUid(metadata["uid"])
        params = {n: from_json(n, value) for n, value in metadata["paramMap"].items()}
        stage._set(**stage._upgrade_params(params))
        return stage
