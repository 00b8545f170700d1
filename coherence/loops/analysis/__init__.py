"""What `coherence analyze` shows of a design or a network."""
