"""Text becomes a Design: the vocabulary, its reading with the place of every value, names, dimensions, parts."""
