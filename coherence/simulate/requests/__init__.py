"""The request-level engine: arrivals, tries, stations and limits, event by event."""
