"""Questions about limits: demand, disruption, memory, overload, settings without effect."""
