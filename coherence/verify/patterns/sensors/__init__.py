"""Questions about what a loop reads: delay, windows, saturation, blindness."""
