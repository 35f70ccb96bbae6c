"""Recount what a table reaches, and estimate how likely someone is re-identified in it."""
