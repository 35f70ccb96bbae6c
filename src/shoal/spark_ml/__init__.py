"""shoal in pipelines of pyspark.ml."""

from shoal.spark_ml.stages import (
    HOLDER,
    Perturb,
    PrivateKMeans,
    PrivateKMeansModel,
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
    "TopDownSpecialization",
    "TopDownSpecializationModel",
    "WaveCluster",
    "WaveClusterModel",
]
