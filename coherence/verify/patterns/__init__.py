"""Named patterns of conflicting policies, one file each."""
