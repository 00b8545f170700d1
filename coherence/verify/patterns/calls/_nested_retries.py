"""Notes nested retries that nothing bounds, with their product; never a conflict."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.places import Place
from coherence.base.sends import product
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Question, arithmetic
from coherence.verify.calls.attempts import expected_sends
from coherence.verify.calls.call_graph import CallTree
from coherence.verify.calls.paths import OTHER, RetryAmplification, amplification
from coherence.verify.calls.retry_policies import RetryPolicy, copies_of_try, tries_again

HALF = Fraction(1, 2)
EXACT_UP_TO = 64  # layers; beyond, deadlines that cut the product are not counted out
_EXPECTED_UP_TO = 10_000  # beyond, p^A is nothing that a reader sees


@dataclass(frozen=True)
class _Best:
    """The most sends by one cause that reach a thing; None is unbounded."""

    sends: int | None = 1
    layers: int = 0
    last: RetryPolicy | None = None


def noted(question: Question, tree: CallTree, measured: Container[str]) -> Iterator[Finding]:
    """For every last callee, the chain whose retries multiply most."""
    causes = dict.fromkeys([*(cause.name for plan in tree.plans for cause in plan.causes), OTHER])
    tables = {cause: _best(tree, cause) for cause in causes}
    for name in tree.work:
        if name in tree.of_caller or name in measured:
            continue
        cause = max(tables, key=lambda c: _size(tables[c].get(name, _Best())))
        if tables[cause].get(name, _Best()).layers >= 2:
            way = _way(tables[cause], name)
            exact = len(way) <= EXACT_UP_TO
            amplifications = (
                amplification(way, cause, abandons=True)
                if exact
                else RetryAmplification(tuple(way), cause, tables[cause][name].sends, ())
            )
            yield _note(question, amplifications)


def _size(best: _Best) -> tuple[bool, int, int]:
    return best.sends is None, best.sends or 0, best.layers


def _best(tree: CallTree, cause: str) -> dict[str, _Best]:
    """Callers first: the best product that reaches each thing (cycles left out)."""
    table: dict[str, _Best] = {}
    for name in reversed(list(tree.work)):
        for plan in tree.of_caller.get(name, ()):
            if tree.on_cycle(plan):
                continue
            before, again = table.get(name, _Best()), plan.tries if tries_again(plan.call, cause) else 1
            copies = copies_of_try(plan.call)
            sends = None if before.sends is None or again is None else before.sends * again * copies
            candidate = _Best(sends, before.layers + (again != 1), plan)
            table[plan.callee] = max(table.get(plan.callee, _Best()), candidate, key=_size)
    return table


def _way(table: dict[str, _Best], name: str) -> list[RetryPolicy]:
    way: list[RetryPolicy] = []
    while (last := table.get(name, _Best()).last) is not None:
        way.insert(0, last)
        name = last.caller
    return way


def _note(question: Question, amplification: RetryAmplification) -> Finding:
    layers = retrying(amplification)
    total = "unboundedly many" if amplification.sends is None else str(amplification.sends)
    product = " x ".join(render_times(plan) for plan in layers[:8])
    more = " x ..." if len(layers) > 8 else ""
    caller, callee = amplification.way[0].caller, amplification.way[-1].callee
    message = (
        f"one call of {caller} may send {total} times to {callee} ({product}{more}); "
        "no promise, limit or load says that this is too many"
    )
    return question.note(
        message,
        layer_places(layers),
        [plan.name for plan in amplification.way],
        arithmetic(figures(amplification), witness=steps(amplification)),
    )


def retrying(amplified: RetryAmplification) -> list[RetryPolicy]:
    """Returns the layers that try again; of a way that is not counted out, those that may."""
    if not amplified.rows:
        return [plan for plan in amplified.way if plan.tries != 1 and tries_again(plan.call, amplified.cause)]
    rows = zip(amplified.way, amplified.rows, strict=True)
    return [plan for plan, row in rows if product(row.tries) != 1 or copies_of_try(plan.call) > 1]


def render_times(plan: RetryPolicy) -> str:
    """Renders how often a layer sends."""
    tries = "unlimited" if plan.tries is None else str(plan.tries)
    return f"{tries} x 2 copies" if copies_of_try(plan.call) > 1 else tries


def layer_places(layers: list[RetryPolicy]) -> list[Place]:
    """Returns the tries of each layer, and the second copies of tries."""
    tries = [
        q.place.labelled(f"{plan.name} tries up to {plan.tries or 'unlimited'} times")
        for plan in layers[:8]
        for q in plan.call.tries[:1]
    ]
    hedges = (plan.call.hedge_after for plan in layers[:8] if copies_of_try(plan.call) > 1)
    return tries + [hedge.place.labelled("a second copy of each try is sent") for hedge in hedges if hedge is not None]


def figures(amplification: RetryAmplification) -> dict[str, tuple[Fraction | int, str]]:
    """Returns most sends, and the mean when half of the tries fail."""
    if amplification.sends is None:
        return {}
    numbers: dict[str, tuple[Fraction | int, str]] = {"sends": (amplification.sends, "")}
    if amplification.sends <= _EXPECTED_UP_TO:
        numbers["mean sends when half of the tries fail"] = (round_off(expected_sends(amplification.sends, HALF)), "")
    return numbers


def round_off(value: Fraction) -> Fraction:
    """To six decimals: the exact fraction has as many digits as there are tries."""
    return Fraction(round(value * 10**6), 10**6)


def steps(amplification: RetryAmplification) -> Iterator[Step]:
    """Yields what each layer makes of one call."""
    sends: int | None = 1
    for plan in retrying(amplification)[:8]:
        copies = copies_of_try(plan.call)
        sends = None if sends is None or plan.tries is None else sends * plan.tries * copies
        so_far = "unbounded" if sends is None else str(sends)
        times = plan.tries or "any number of"
        twice = ", each sent twice" if copies > 1 else ""
        yield Step(None, f"{plan.name} fails by {amplification.cause} {times} times{twice}: {so_far} so far")
