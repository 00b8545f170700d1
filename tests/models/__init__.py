"""Parts laid against plain implementations of the programs that they stand for."""
