"""k-anonymity by specialising taxonomies from the top."""
