"""Local mechanisms on categories, and frequencies estimated from their reports."""
