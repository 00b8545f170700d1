"""What one run of `coherence fit` keeps: candidates, couplings, the fitted graph, figures."""
