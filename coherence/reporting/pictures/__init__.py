"""Figures as data, drawn as SVG by itself and as PNG through matplotlib where that is installed."""
