"""Questions about placement, eviction, preemption and gangs."""
