"""Local recoding: every class has labels of its own."""
