"""Tries to beat floors inside their own assumptions: each model runs what an assumption leaves free to choose."""
