"""Attacks on released tables: linkage, inference of attributes, and reconstruction."""
