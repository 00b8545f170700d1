"""Proves or finds that loops over plants settle, or keep swinging: by forms, roots and runs."""
