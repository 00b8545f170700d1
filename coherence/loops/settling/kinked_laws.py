"""Takes the kinks out of laws, wherever they bend: min, max and abs become absolute values that are read by name.

    max(a, b) = (a + b) / 2 + |a - b| / 2,    min(a, b) = (a + b) / 2 - |a - b| / 2

Between any two runs the difference of such a value is that of what it is of, times a factor from -1 to 1.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.language.expressions.tree import Arithmetic, Call, Name, Number, Tree
from coherence.loops.designs.bends import BentModel
from coherence.loops.designs.kinks import BENT, mapped, substituted
from coherence.model.model import Model

TWO = Number(Fraction(2))


def bent_everywhere(model: Model) -> BentModel:
    """Returns the model with every least, largest and absolute value written by absolute values."""
    bends: dict[str, Tree] = {}
    names: dict[Tree, str] = {}

    def kink(inner: Tree) -> Tree:
        if inner not in names:
            names[inner] = f"kink {len(names) + 1}"
            bends[names[inner]] = substituted(inner, change)
        return Name(names[inner])

    def change(tree: Tree) -> Tree | None:
        if not isinstance(tree, Call) or tree.function not in BENT:
            return None
        first, *others = tree.arguments
        if tree.function == "abs":
            return kink(first)
        for other in others:
            apart = kink(Arithmetic("-", first, other))
            both = Arithmetic("+", first, other)
            first = Arithmetic("/", Arithmetic("-" if tree.function == "min" else "+", both, apart), TWO)
        return first

    return BentModel(mapped(model, change), bends)
