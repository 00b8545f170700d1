"""Figures as data, written as SVG without a library and as PNG through matplotlib."""
