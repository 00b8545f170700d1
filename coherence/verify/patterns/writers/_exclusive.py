"""Proves that two writers whose conditions never hold together leave each other alone."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.findings.finding import Finding
from coherence.findings.question_input import Certificate
from coherence.language.design import Relay
from coherence.language.expressions.lower_smt import lower_smt, symbol
from coherence.language.expressions.tree import MIRRORED, NEGATED, Compare, Held, Logic, Name, Number, Tree
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.writers import Writer, reads
from coherence.verify.patterns.writers._pair import WriterPair

Literal = tuple[Tree, ...]  # parts about one signal, one of which holds


def exclusive(pair: WriterPair) -> Finding | None:
    """Proved, where two comparisons of the conditions contradict each other; None where that is not seen."""
    for first in _literals(pair.first):
        for second in _literals(pair.second):
            if _full(pair, _path(first)) == pair.signal:
                continue
            if _apart(first, second) and _seen_alike(pair, _path(first)):
                return _proved(pair, first, second)
    return None


def in_turns(pair: WriterPair) -> bool:
    """Returns whether the conditions exclude each other by the signal that both write: the next write may undo this
    one."""
    return any(
        _apart(first, second) and _full(pair, _path(first)) == pair.signal
        for first in _literals(pair.first) for second in _literals(pair.second)
    )  # fmt: skip


def _full(pair: WriterPair, path: str) -> str:
    return pair.facts.bare.get(path, path)


def _proved(pair: WriterPair, first: Literal, second: Literal) -> Finding:
    sort = "Real" if isinstance(first[0], Compare) else "Bool"
    path = _path(first)
    held = tuple(lower_smt(literal[0] if len(literal) == 1 else Logic("or", literal)) for literal in (first, second))
    script = Certificate({symbol(path): sort}, held, "false").script()
    both = " and ".join(pair.names)
    message = f"{both} never write {pair.signal} at once: their conditions exclude each other"
    return pair.proved(message, {}, script)


def _seen_alike(pair: WriterPair, path: str) -> bool:
    """Returns whether both loops see the signal with the same delay.  A loop sees its target through its sensor
    chain."""
    return _chain(pair.first, path, pair.facts) == _chain(pair.second, path, pair.facts)


def _chain(writer: Writer, path: str, facts: DesignFacts) -> tuple[tuple[str, Fraction], ...]:
    target, signal = writer.loop.target, reads(writer.loop)
    if target is None or facts.bare.get(signal, signal) != facts.bare.get(path, path):
        return ()
    return tuple((link.kind, link.duration.high) for link in target.sensor if link.duration is not None)


def _literals(writer: Writer) -> Iterator[Literal]:
    """Yields what holds whenever the writer writes: comparisons and booleans, of which its own name is one.

    A relay writes where its `enter` holds or its `leave` does not: two comparisons of one signal, either of which may
    hold.
    """
    yield (Name(writer.name),)
    if writer.condition is None:
        return
    if not writer.relay:
        yield from ((literal,) for literal in _conjuncts(writer.condition))
    elif isinstance(writer.loop.trigger, Relay) and writer.loop.trigger.leave is not None:
        stays = list(_conjuncts(Logic("not", (writer.loop.trigger.leave.tree,))))
        for enters in _conjuncts(writer.condition):
            yield from ((enters, stay) for stay in stays if _path((stay,)) == _path((enters,)))


def _conjuncts(tree: Tree) -> Iterator[Tree]:
    match tree:
        case Logic(op="and", terms=terms):
            for term in terms:
                yield from _conjuncts(term)
        case Logic(op="not", terms=(Compare(op=op, left=left, right=right),)):
            yield from _conjuncts(Compare(NEGATED[op], left, right))
        case Held(condition=condition):
            yield from _conjuncts(condition)
        case Compare(op=op, left=Number() as left, right=Name() as right):
            yield Compare(MIRRORED[op], right, left)
        case Compare(left=Name(), right=Number()) | Name() | Logic(op="not", terms=(Name(),)):
            yield tree


def _path(literal: Literal) -> str:
    match literal[0]:
        case Name(path=path) | Compare(left=Name(path=path)) | Logic(terms=(Name(path=path),)):
            return path
    return ""


def _apart(first: Literal, second: Literal) -> bool:
    """Returns whether the two contradict each other, each of their parts every part of the other."""
    return _path(first) == _path(second) and all(_contradict(one, other) for one in first for other in second)


def _contradict(first: Tree, second: Tree) -> bool:
    """Returns whether two comparisons or booleans of one signal contradict each other."""
    if isinstance(first, Compare) and isinstance(second, Compare):
        return _empty(first, second)
    if isinstance(first, Compare) or isinstance(second, Compare):
        return False
    return isinstance(first, Logic) != isinstance(second, Logic)


def _empty(first: Compare, second: Compare) -> bool:
    """x OP a and x OP b for no x."""
    points = {_number(first), _number(second)}
    low, high = min(points), max(points)
    probes = [low - 1, low, (low + high) / 2, high, high + 1]
    return not any(_holds(first, x) and _holds(second, x) for x in probes)


def _number(literal: Compare) -> Fraction:
    assert isinstance(literal.right, Number)
    return literal.right.value


def _holds(literal: Compare, x: Fraction) -> bool:
    from coherence.language.expressions.evaluate import COMPARE

    return COMPARE[literal.op](x, _number(literal))
