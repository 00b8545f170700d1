"""A continuous-batching inference server, step by step, and the load that drives it."""
