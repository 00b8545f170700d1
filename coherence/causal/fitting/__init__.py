"""Decides which coefficients are identified and by which estimator, and estimates them."""
