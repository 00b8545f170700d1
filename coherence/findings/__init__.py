"""What an answer is, who may give one, and which are suppressed or known."""
