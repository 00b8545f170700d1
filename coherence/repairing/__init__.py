"""What to change: which values decide (blame), which edits remove a conflict (nearest), and that they do (rechecks)."""
