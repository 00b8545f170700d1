"""Whether jobs wait for ever while others come again: fair runs, and certificates that none does."""
