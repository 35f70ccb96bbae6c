"""Cases of every mechanism and estimator that is shipped."""
