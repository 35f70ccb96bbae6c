"""Draft the domain file of a table: from names and kinds of columns, a codebook, or a release."""
