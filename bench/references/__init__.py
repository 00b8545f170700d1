"""Models with known answers, and readers of published ones, which benchmarks and tests lay beside the engines."""
