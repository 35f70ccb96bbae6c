"""The ``shoal`` command; nothing else leans on it."""
