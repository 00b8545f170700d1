"""Jobs, gangs, evictors and placers as finite relations, explored exactly."""
