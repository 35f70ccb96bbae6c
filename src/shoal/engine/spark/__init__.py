"""`Rows` and tables on Spark; pyspark itself is imported in ``session`` alone."""
