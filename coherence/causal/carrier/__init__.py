"""A fitted network as a joint distribution, in pgmpy and back, and networks that others published."""
