"""Systems whose truth is known behind each signature of infrastructure: a file is an experiment, found by its name."""
