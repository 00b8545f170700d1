"""The model: a design with everything resolved, which the engines read."""
