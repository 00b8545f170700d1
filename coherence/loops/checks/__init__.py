"""Questions about oscillation and amplification, one file each."""
