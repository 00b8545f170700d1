"""Decides one promise: refutes it by exact runs, proves it, or says why neither."""
