"""Half-spaces of parameters in which nothing is in conflict: exact, by following how each answer was computed."""
