"""The causal engine: telemetry in, losses out, each with its causes, its interval, and what cannot be told."""
