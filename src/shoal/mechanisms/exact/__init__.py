"""Exact random draws from integers and decimal digits; no outcome depends on float rounding."""
