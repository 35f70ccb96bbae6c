"""Searches for one cut that all rows share."""
