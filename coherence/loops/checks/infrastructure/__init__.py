"""Questions about what lies between loops and what they act on: boundaries, and the place where a design runs."""
