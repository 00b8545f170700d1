"""The events of a design: what causes each, what ends it, and which of two comes first."""
