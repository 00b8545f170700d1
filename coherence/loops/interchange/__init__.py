"""Systems of other tools in and out: python-control, scipy.signal, matrices in files."""
