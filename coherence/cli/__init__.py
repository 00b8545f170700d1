"""The command line: one file per command, found by name; each module offers `command`."""
