"""When timers fire, which event comes first, and what comes again and again."""
