"""Certified lower bounds: what no retuning can reach, each under stated assumptions."""
