"""Keeps what one run of `coherence fit` computes: candidates, couplings, the fitted graph, figures."""
