"""Local mechanisms: each person's record is randomised before it leaves."""
