"""Accounts for capacity: what a fleet can do alone, the exclusive states of its devices, and the worth of each."""
