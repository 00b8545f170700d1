"""Sorts of facts that an overlay states: one file each, with what lacks it and the usual metrics that tell it."""
