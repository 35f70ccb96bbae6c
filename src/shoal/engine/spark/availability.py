"""Spark, if it is installed: the way to it for whoever was handed no Spark frame."""

from types import ModuleType

from shoal.errors import NotInstalled

__all__ = ["spark_part"]


def spark_part() -> ModuleType:
    """The module that calls Spark; without pyspark, words that say what to install."""
    try:
        from shoal.engine.spark import session
    except ImportError:
        raise NotInstalled(
            "Spark was asked for, and pyspark is not installed here.",
            "Install it with: pip install 'shoal[spark]'.",
            reason="pyspark",
        ) from None
    return session
