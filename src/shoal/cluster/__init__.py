"""Estimators, private and plain, and the choice of their settings."""
