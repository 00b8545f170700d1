"""Writes the claim of a proof about calls as an SMT-LIB script over its numbers, for z3 and cvc5 to re-check."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeVar

from coherence.base.errors import InternalError
from coherence.findings.question_input import Certificate, rational
from coherence.verify.calls.attempts import ZERO, RetrySchedule, pauses, start
from coherence.verify.calls.compositions import TimeTerm
from coherence.verify.calls.retry_policies import RetryPolicy

Numbers = dict[str, tuple[Fraction | float | int, str]]  # name -> (value, unit), as evidence has them
Bound = TypeVar("Bound", int, Fraction)
EACH = 12  # up to here every try has its own variables, beyond their sums


def tries_fit(course: RetrySchedule, limit: Fraction, *, strict: bool = False) -> str:
    """Returns a script: every run of the tries, each as slow as it may be or faster, ends within the limit.

    Raises InternalError for tries without a number, or of any length: they end within no limit.
    """
    count, takes = _bounded(course.count, "tries"), _bounded(course.takes, "the time of a try")
    relation = "<" if strict else "<="
    if len(course.tries) == 1 and count <= EACH:
        tries = {f"try_{k}": takes for k in range(1, count + 1)}
        waits = {f"pause_{k}": _pause(course, k) for k in range(1, count)}
    else:
        tries = {"all_tries": count * takes}
        waits = {"all_pauses": (start(course, count) or ZERO) - (count - 1) * takes}
    return bounded_sum({**tries, **waits}, limit, relation)


def call_ends(plan: RetryPolicy, longest: Fraction, limit: Fraction) -> str:
    """Returns a script: failing tries, pauses and a last try that hangs end before the limit; or the deadline does."""
    slowest = max(plan.causes, key=lambda cause: cause.takes.high or ZERO, default=None)
    own = plan.deadline is not None and plan.deadline.high == longest
    if own or slowest is None or not plan.retries or plan.limit is None:
        return bounded_sum({"call": longest}, limit)
    course, tries = plan.worst(slowest), _bounded(plan.tries, "tries")
    waits = (start(course, tries) or ZERO) - (tries - 1) * (course.takes or ZERO)
    last = (plan.whole_try or plan.limit).high or ZERO
    failing = longest - waits - last
    return bounded_sum({"failing_tries": failing, "pauses": waits, "last_try": last}, limit)


def _bounded(number: Bound | None, of: str) -> Bound:
    if number is None:
        raise InternalError(f"a claim that all tries end, and {of} have no bound")
    return number


def _pause(course: RetrySchedule, k: int) -> Fraction:
    whole, before = pauses(course.backoff, k, longest=True), pauses(course.backoff, k - 1, longest=True)
    return (whole or ZERO) - (before or ZERO)


def bounded_sum(parts: dict[str, Fraction], limit: Fraction, relation: str = "<") -> str:
    """Returns a script: parts that are each at least 0 and at most their bound add up to less than the limit."""
    facts = [fact for name, most in parts.items() for fact in (f"(<= 0.0 {name})", f"(<= {name} {rational(most)})")]
    total = " ".join(parts)
    left = f"(+ {total})" if len(parts) > 1 else total
    return Certificate(dict.fromkeys(parts, "Real"), tuple(facts), f"({relation} {left} {rational(limit)})").script()


def term_fits(term: TimeTerm, limit: Fraction, *, strict: bool = True) -> str:
    """Returns a script: calls, each at most its longest, end before the limit, as they are composed."""
    names: dict[str, str] = {}
    facts: list[str] = []
    whole = _declared(term, names, facts)
    return Certificate(names, tuple(facts), f"({'<' if strict else '<='} {whole} {rational(limit)})").script()


def _declared(term: TimeTerm, names: dict[str, str], facts: list[str]) -> str:
    """Returns the variable of a term; what bounds it is added to the facts."""
    parts = [_declared(part, names, facts) for part in term.parts]
    name = f"{'call' if term.how == 'call' else 'end'}_{len(names) + 1}"
    names[name] = "Real"
    if term.how == "call":
        facts += [f"(<= 0.0 {name})", f"(<= {name} {rational(term.bound or ZERO)})"]
    elif term.how == "in turn":
        facts.append(f"(<= {name} (+ {' '.join(parts)}))" if len(parts) > 1 else f"(<= {name} {parts[0]})")
    else:
        facts.append(f"(or {' '.join(f'(<= {name} {part})' for part in parts)})")
    return name


def at_most(value: Fraction, limit: Fraction) -> str:
    """Returns a script: one stated worst case lies within a limit."""
    return bounded_sum({"takes": value}, limit, "<=")


def bounded_below(parts: dict[str, Fraction], limit: Fraction) -> str:
    """Returns a script: parts that are each at least their bound add up to more than the limit."""
    facts = tuple(f"(>= {name} {rational(least)})" for name, least in parts.items())
    total = f"(+ {' '.join(parts)})" if len(parts) > 1 else next(iter(parts))
    return Certificate(dict.fromkeys(parts, "Real"), facts, f"(> {total} {rational(limit)})").script()
