"""Questions about the design itself: auditability, statements that nothing satisfies, settings without effect."""
