"""The keys of a design: one file for each kind of entry, one record for each mapping, with the words of every key."""
