"""The expression language: `parse` makes a typed tree, and four lowerings read it.

number: `evaluate` (Fraction, float, or any number type) · numpy: `lower_numpy` · sympy:
`lower_sympy` · z3: `lower_smt` (SMT-LIB text, which `coherence.base.solver` gives to z3 or cvc5).
"""

from coherence.language.expressions.parse import ExpressionError, parse
from coherence.language.expressions.tree import Tree, names, walk

__all__ = ["ExpressionError", "Tree", "names", "parse", "walk"]
