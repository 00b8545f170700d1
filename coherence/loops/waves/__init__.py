"""Waves along paths of tiers: growth from hop to hop, and how slowly queues relax."""
