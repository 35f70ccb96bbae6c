"""Local mechanisms on categories, and frequencies learnt from them."""
