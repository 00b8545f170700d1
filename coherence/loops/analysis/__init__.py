"""Analyses of a design or a network, as `coherence analyze` renders them."""
