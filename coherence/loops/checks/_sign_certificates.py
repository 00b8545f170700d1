"""The one sign of a loop's plant as SMT-LIB: each formula on the way keeps or turns the order of what it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coherence.base.solver import confirmed, joined
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.lower_smt import lower_smt, real, symbol
from coherence.language.expressions.tree import Arithmetic, Call, Name, Tree, names, rename, walk
from coherence.model.model import Interval, Model
from coherence.verify.facts.ranges import PAST
from coherence.verify.facts.signs import BOTH, NONE, UP, plant_sign, ranges_of

CHECK_MS = 500
HIGHER = " with more"  # of a name: its value in the run with the larger command


def certificate(model: Model, signal: str, judged: Tree) -> str | None:
    """Returns a script to be refuted: no formula between the command and `judged` orders two runs otherwise than
    claimed.

    None where z3 does not confirm it, or a formula has no SMT-LIB form.  A value of the past stands for
    what it reads: two runs that are ordered now were ordered then.
    """
    signs = {path: plant_sign(model, signal, Name(path)) for path in (*model.outputs, *model.states, *model.commands)}
    signs = {path: sign for path, sign in signs.items() if sign != NONE}
    if BOTH in signs.values():
        signs = _needed(model, signs, judged)
    try:
        scripts = list(dict.fromkeys(_scripts(model, signs, judged, plant_sign(model, signal, judged))))
    except NotExactError:
        return None
    script = joined(scripts)
    return script if BOTH not in signs.values() and confirmed(script, timeout_ms=CHECK_MS) else None


def _needed(model: Model, signs: Mapping[str, int], judged: Tree) -> dict[str, int]:
    """Returns the signs of what the judged expression depends on."""
    from coherence.simulate.execute.slices import influences

    reached = {*names(judged), *influences(model, names(judged))}
    return {path: sign for path, sign in signs.items() if path in reached}


def _scripts(model: Model, signs: Mapping[str, int], judged: Tree, sign: int) -> Iterator[str]:
    ranges = ranges_of(model)
    yield _script(judged, sign, signs, ranges)
    for path, direction in signs.items():
        if path in model.outputs:
            yield _script(model.outputs[path], direction, signs, ranges)
        elif path in model.states:
            state = model.states[path]
            if state.next is not None:
                yield _script(state.next, direction, signs, ranges)
            if state.flow is not None:
                yield _script(state.flow, direction, {k: v for k, v in signs.items() if k != path}, ranges)


def _script(tree: Tree, sign: int, signs: Mapping[str, int], ranges: Mapping[str, Interval]) -> str:
    """No values of what the tree reads, ordered by their signs, give values of the tree in the other order."""
    now = _present(tree)
    more = rename(now, lambda path: path + HIGHER if path in signs else path)
    used, facts = dict.fromkeys(names(now)), list[str]()
    declared = [*used, *(path + HIGHER for path in used if path in signs)]
    for path in used:
        facts += _inside(path, ranges.get(path))
        if path in signs:
            facts += _inside(path + HIGHER, ranges.get(path))
            facts.append(f"({'<=' if signs[path] == UP else '>='} {symbol(path)} {symbol(path + HIGHER)})")
    facts += [f"(distinct {lower_smt(below)} 0.0)" for t in (now, more) for below in _divisors(t)]
    claim = f"({'<=' if sign == UP else '>='} {lower_smt(now)} {lower_smt(more)})"
    lines = [*(f"(declare-const {symbol(name)} Real)" for name in declared), *(f"(assert {f})" for f in facts)]
    return "\n".join(["(set-logic QF_NIRA)", *lines, f"(assert (not {claim}))", "(check-sat)"]) + "\n"


def _divisors(tree: Tree) -> Iterator[Tree]:
    for node in walk(tree):
        if isinstance(node, Arithmetic) and node.op == "/" and names(node.right):
            yield node.right


def _inside(path: str, span: Interval | None) -> list[str]:
    low, high = (span.low, span.high) if span is not None else (None, None)
    made = [] if low is None else [f"(>= {symbol(path)} {real(low)})"]
    return made if high is None else [*made, f"(<= {symbol(path)} {real(high)})"]


def _present(tree: Tree) -> Tree:
    """Returns the tree with what it reads of the past as what that reads."""
    match tree:
        case Call(function=function, arguments=(inner, *_)) if function in PAST:
            return _present(inner)
        case Call(function=function, arguments=arguments):
            return Call(function, tuple(_present(a) for a in arguments))
        case Arithmetic(op=op, left=left, right=right):
            return Arithmetic(op, _present(left), _present(right))
    return tree
