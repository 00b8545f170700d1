"""Commands of the command line: one file each, found by name; each module offers `command`."""
