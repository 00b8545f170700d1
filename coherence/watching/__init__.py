"""Watches a system beside its design: rolling indices, sequential tests, drifts, oscillations and changed findings."""
