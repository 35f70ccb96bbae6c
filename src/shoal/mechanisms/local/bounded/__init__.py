"""Local mechanisms on bounded numbers."""
