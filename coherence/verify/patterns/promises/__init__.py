"""Questions about written promises: states, numbers and loops against them."""
