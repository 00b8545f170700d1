"""Finds the nearest change that removes a finding, and the numbers that a conflict depends on."""
