"""Period, delay and gain from series of measurements, with intervals."""
