"""What the sections of an assessment stand on: the answers of all engines, and elements of a page."""
