"""Engine: is a set of control loops stable, how far from the edge, and at what period does it oscillate?"""
