"""Which coefficient can be told, by which estimator, and its estimate."""
