"""Proves `eventually` by chains of sets and by Lyapunov functions, and that commands come to rest."""
