"""Questions about the design itself: auditability, and statements that nothing satisfies."""
