"""Intervals for released centres and sizes, from simulated fits of what was released.

Glossary
--------
refit
    The same method run on made-up rows with simulated noise, in memory.
deviation
    What a refit released less what plain k-means finds in the same made-up rows.
flip
    A refit in which a centre went nearer to another place than to its own.
"""
