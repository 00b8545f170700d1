"""Root causes of an incident, in order, beside chance and simple rules."""
