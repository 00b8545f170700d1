"""A design run several times: what is read from each run, with intervals, and two designs compared."""
