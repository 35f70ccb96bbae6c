"""Attacks on released tables: linkage, attributes, reconstruction."""
