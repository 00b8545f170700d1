"""A design in pieces that cannot touch each other: cut, read again and asked again one by one."""
