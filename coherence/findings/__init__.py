"""Findings: what an answer is, which modules give answers, and which findings are suppressed or known."""
