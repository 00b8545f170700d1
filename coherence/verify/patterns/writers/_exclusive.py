"""Proves that two writers whose conditions never hold together leave each other alone."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.findings.finding import Finding
from coherence.findings.question_input import Certificate
from coherence.language.expressions.lower_smt import lower_smt, symbol
from coherence.language.expressions.tree import MIRRORED, NEGATED, Compare, Held, Logic, Name, Number, Tree
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.writers import Writer, reads
from coherence.verify.patterns.writers._pair import WriterPair


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


def _proved(pair: WriterPair, first: Tree, second: Tree) -> Finding:
    sort = "Real" if isinstance(first, Compare) else "Bool"
    path = _path(first)
    script = Certificate({symbol(path): sort}, (lower_smt(first), lower_smt(second)), "false").script()
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


def _literals(writer: Writer) -> Iterator[Tree]:
    """Comparisons and booleans that hold whenever the writer writes; its own name is one of them.

    A relay writes on after the condition under which it enters.
    """
    yield Name(writer.name)
    if writer.condition is not None and not writer.relay:
        yield from _conjuncts(writer.condition)


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


def _path(literal: Tree) -> str:
    match literal:
        case Name(path=path) | Compare(left=Name(path=path)) | Logic(terms=(Name(path=path),)):
            return path
    return ""


def _apart(first: Tree, second: Tree) -> bool:
    """Returns whether the two contradict each other."""
    if _path(first) != _path(second):
        return False
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
