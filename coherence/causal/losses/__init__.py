"""Types of loss, one file each: a state of a device says where time went, never why it went there."""
