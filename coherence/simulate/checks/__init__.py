"""Questions about dynamics under load; one file each."""
