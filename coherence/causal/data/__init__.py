"""Series on one clock, and logs of requests."""
