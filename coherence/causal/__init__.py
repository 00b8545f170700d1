"""Fits designs to telemetry: losses with their causes, each with its interval, and what cannot be identified."""
