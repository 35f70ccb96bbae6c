"""A release where the rows lie on Spark."""
