"""One file per lower bound: symbols, assumptions, formula, certificate and witness."""
