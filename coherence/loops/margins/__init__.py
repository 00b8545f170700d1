"""Margins of networks: distances to instability, largest gains, and minimal unstable sets of loops."""
