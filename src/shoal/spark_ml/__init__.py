"""Stages of pyspark.ml pipelines that wrap the estimators of shoal.

Words: a *stage* is an estimator, transformer or model of a pipeline; *Params* are its settings as
Spark stores them; the *embedded* estimator is the one of shoal that a stage wraps; ``fitted`` is
the embedded estimator after its fit; labels of rows are for their *holder* only.
"""

from shoal.spark_ml._stages import (
    HOLDER,
    Perturb,
    PrivateKMeans,
    PrivateKMeansModel,
    PrivateKPrototypes,
    PrivateKPrototypesModel,
    TopDownSpecialization,
    TopDownSpecializationModel,
    WaveCluster,
    WaveClusterModel,
)

__all__ = [
    "HOLDER",
    "Perturb",
    "PrivateKMeans",
    "PrivateKMeansModel",
    "PrivateKPrototypes",
    "PrivateKPrototypesModel",
    "TopDownSpecialization",
    "TopDownSpecializationModel",
    "WaveCluster",
    "WaveClusterModel",
]
