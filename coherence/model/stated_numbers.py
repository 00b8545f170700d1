"""Evaluates the expressions that stand where a model takes a number: bounds of commands, and where these begin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from coherence.language.expressions.evaluate import Constants, NotExactError, Value, evaluate
from coherence.language.expressions.tree import Tree, rename
from coherence.language.schema_kinds import Formula, Quantity
from coherence.model.model import Constant, Interval, interval


@dataclass(frozen=True)
class _Known(Constants):
    constants: Mapping[str, Constant]
    outputs: Mapping[str, Tree]

    def value(self, path: str) -> Value:
        """Returns the one value of a constant, or of an output of constants.  Raises NotExactError."""
        constant = self.constants.get(path)
        if constant is not None and constant.range.low == constant.range.high and not constant.varies:
            return super().value(path) if constant.range.low is None else constant.range.low
        return evaluate(self.outputs[path], self) if path in self.outputs else super().value(path)


def stated_interval(
    stated: object, constants: Mapping[str, Constant], outputs: Mapping[str, Tree], index: Mapping[str, str]
) -> Interval | None:
    """Returns what a value of the text stands for; None where it is absent, or an expression of what may differ."""
    if isinstance(stated, Quantity):
        return interval(stated)
    if not isinstance(stated, Formula):
        return None
    known = _Known({}, constants, outputs)
    try:
        number = evaluate(rename(stated.tree, lambda path: index.get(path, path)), known)
    except (NotExactError, RecursionError):
        return None
    if isinstance(number, bool) or not isinstance(number, int | Fraction):
        return None
    return Interval(Fraction(number), Fraction(number))
