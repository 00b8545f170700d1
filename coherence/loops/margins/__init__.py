"""How far a network is from its next oscillation, how large its peaks are, and whose fault they are."""
