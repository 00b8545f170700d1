"""What everything stands on: places, errors, exact numbers with units, values, polynomials, the one solver."""
