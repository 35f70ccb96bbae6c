"""Exact random draws: integers and digits only, no float decides."""
