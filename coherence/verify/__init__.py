"""Finds conflicts between policies of a design, and proves that there are none."""
