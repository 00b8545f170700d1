"""A Design with everything resolved: the one thing that the engines read."""
