"""Measures what manifests do not say: which facts findings ask for, what a Prometheus knows of them, as an overlay."""
