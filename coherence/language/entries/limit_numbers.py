"""Reads the number up to which a limit lets through: the larger of its cap and of what the cap is never below."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from coherence.language.design import Call, Design, Limit
from coherence.language.expressions.tree import Arithmetic, Name, Number
from coherence.language.implied import number_of
from coherence.language.schema_kinds import Formula, Quantity, Word
from coherence.language.words import STATES


def most_allowed(design: Design, limit: Limit) -> Quantity | None:
    """Returns the larger of `at_most` and `but_at_least`; None where one is stated and is no number.

    Expressions of constants are numbers.  It is that of each instance: of a limit with a `scope` there may be several.
    """
    most, least = _number(design, limit.at_most), _number(design, limit.but_at_least)
    if most is None or (least is None and limit.but_at_least is not None):
        return None
    if least is None or most.low >= least.high:
        return most
    if least.low >= most.high:
        return least
    low, high = max(most.low, least.low), max(most.high, least.high)
    return replace(most, low=low, high=high, text=f"max({most}, {least})")


def least_allowed(design: Design, limit: Limit) -> Fraction | None:
    """Returns what the cap of a limit is never below, 0 where nothing says it; None where that is no number."""
    least = _number(design, limit.but_at_least)
    return Fraction(0) if limit.but_at_least is None else least.high if least is not None else None


def ends_retries(limit: Limit, call: Call) -> bool:
    """Decides whether a limit ends the retries of a call when so many have come within its window: its budget, or one
    that counts the retries of its caller.
    """
    ends = limit.when_full is not None and limit.when_full.text != "wait"
    tree = limit.counts.tree if limit.counts is not None else None
    thing, _, word = tree.path.partition(".") if isinstance(tree, Name) else ("", "", "")
    named = call.budget is not None and call.budget.text == limit.name
    own = named or (call.caller is not None and thing == call.caller.text)
    return ends and own and word in STATES["sent again"] and limit.window is not None and not limit.actions


def share_in_window(limit: Limit) -> tuple[Fraction, bool] | None:
    """(share, of first tries?) of `20 % of x.requests`: all tries count, of `x.first` the first ones; x retries."""
    counted = limit.counts.tree if limit.counts is not None else None
    match limit.at_most:
        case Formula(tree=Arithmetic(op="*", left=Number(value=share), right=Name(path=path))):
            thing, _, word = path.partition(".")
            first = word.startswith(("first", "accepted"))
            same = isinstance(counted, Name) and counted.path.partition(".")[0] == thing
            return (share, first) if same and (first or word in STATES["sent"]) else None
    return None


def _number(design: Design, stated: Quantity | Formula | Word | None) -> Quantity | None:
    if isinstance(stated, Formula):
        return number_of(design, stated)
    return stated if isinstance(stated, Quantity) else None
