"""Pictures of runs: what happened over time, and how long answers took."""
