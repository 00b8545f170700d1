"""Certified lower bounds: what no retuning can reach, each keyed on its assumptions."""
