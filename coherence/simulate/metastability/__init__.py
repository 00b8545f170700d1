"""Operating points of retrying calls: where load and tries hold each other up."""
