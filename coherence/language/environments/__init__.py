"""A design in several places: what an environment lays over the rest, and how two documents differ."""
