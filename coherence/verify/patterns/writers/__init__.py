"""Questions about loops that write one field or undo each other."""
