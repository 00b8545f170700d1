"""Questions about the design itself: suppressions, auditability, vacuity; one file each."""
