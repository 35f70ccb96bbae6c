"""``Rows`` and tables on Spark; only ``session`` imports pyspark."""
