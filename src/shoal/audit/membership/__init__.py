"""Membership attacks on fitted models."""
