"""Questions about limits: demand, disruption, memory, overload, members taken out of service."""
