"""Certified lower bounds on epsilon, from outputs on two neighbouring inputs."""
