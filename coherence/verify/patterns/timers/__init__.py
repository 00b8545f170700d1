"""Questions about timers: probes, leases, gates, orders of events."""
