"""Count, search and write a release on Spark, where the rows are."""
