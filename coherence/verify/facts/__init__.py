"""What stated numbers allow: ranges, limits, writers, signs, and whether conditions hold together."""
