"""Waves along chains of tiers: growth from hop to hop, bursts, retries over layers."""
