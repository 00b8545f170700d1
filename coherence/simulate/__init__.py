"""The referee: execution of the one model.  `exact` runs piecewise-constant models over rationals."""
