"""The loops of a design as groups in feedback: operating points, linearisation, exact runs."""
