"""Basics that every folder uses: places, errors, exact numbers with units, polynomials, the one solver."""
