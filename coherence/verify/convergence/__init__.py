"""Proves `eventually` by chains of sets and by Lyapunov functions."""
