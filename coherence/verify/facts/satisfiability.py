"""Decides whether several conditions can hold in one state, by a solver over the stated intervals.

Names are what they are in `known`: constants and commands within their ranges, outside things and states
anywhere.  A value of the past is a free value within the range of what it is the past of (`fresh`), or the
value now (`steady`: a state that lasts).  Refuted worlds are certificates; found ones are exact and checked.
SOURCE: satisfiability modulo linear and polynomial real arithmetic; deletion-based minimal cores
(Chinneck, Feasibility and Infeasibility in Optimization, 2008, chapter 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.solver import Outcome, SolverAnswer, unsat, unsat_each
from coherence.findings.question_input import Certificate, rational
from coherence.language.expressions import walk
from coherence.language.expressions.evaluate import Constants, NotExactError, evaluate
from coherence.language.expressions.lower_smt import lower_smt, symbol
from coherence.language.expressions.tree import (
    NEGATED,  # fmt: skip
    Arithmetic,
    Call,
    Choose,
    Compare,
    Held,
    Logic,
    Name,
    Number,
    Tree,
    children,
    names,
    rename,
)
from coherence.model.model import EVERYTHING, Interval
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.range_claims import bounds
from coherence.verify.facts.ranges import FUNCTIONS, PAST, Values, enclosure
from coherence.verify.facts.state_ranges import stated, whole

TIMEOUT_MS = 3_000


@dataclass(frozen=True)
class SatState:
    """An exact state: what every free name is worth there."""

    at: Mapping[str, Fraction | bool]

    def holds(self, tree: Tree) -> bool | None:
        """Returns the truth of a condition there; None where it is not defined (division by zero)."""
        try:
            return bool(evaluate(tree, Constants(self.at)))
        except (NotExactError, TypeError):
            return None


def plain(tree: Tree, *, steady: bool) -> Tree:
    """Returns the tree without time: what lasts or was before becomes what is now (`steady`), or a name of its own."""
    match tree:
        case Held(condition=condition):
            now = plain(condition, steady=steady)
            return now if steady else Logic("and", (now, Name(past_name(tree))))
        case Call(function=function, arguments=arguments) if function in PAST:
            inner = plain(arguments[0], steady=steady)
            return inner if steady or not names(inner) else Name(past_name(tree))
        case Call(function=function, arguments=arguments) if function in FUNCTIONS:
            return Call(function, tuple(plain(part, steady=steady) for part in arguments))
        case Call():
            return Name(past_name(tree))
        case Arithmetic(op=op, left=left, right=right):
            return Arithmetic(op, plain(left, steady=steady), plain(right, steady=steady))
        case Compare(op=op, left=left, right=right):
            return Compare(op, plain(left, steady=steady), plain(right, steady=steady))
        case Logic(op=op, terms=terms):
            return Logic(op, tuple(plain(term, steady=steady) for term in terms))
        case Choose(condition=condition, then=then, otherwise=otherwise):
            parts = [plain(part, steady=steady) for part in (condition, then, otherwise)]
            return Choose(parts[0], parts[1], parts[2])
    return tree


def past_name(tree: Tree) -> str:
    """Returns a name for what is not computed here: the same words, the same name."""
    return "?" + _words(tree).replace("|", "/").replace("\\", "/")


def _words(tree: Tree) -> str:
    match tree:
        case Name(path=path):
            return path
        case Number(value=value):
            return str(value)
        case Call(function=function, arguments=arguments):
            return f"{function}({', '.join(_words(part) for part in arguments)})"
    kind = f"held {tree.duration}" if isinstance(tree, Held) else getattr(tree, "op", type(tree).__name__.lower())
    return f"({kind} {' '.join(_words(part) for part in children(tree))})"


def past_ranges(tree: Tree, values: Values) -> dict[str, Interval]:
    """Returns the range of each value of the past in the tree: that of what it is the past of."""
    intervals = {}
    for node in walk(tree):
        if isinstance(node, Call) and node.function in PAST:
            intervals[past_name(node)] = enclosure(node.arguments[0], values)
    return intervals


def is_past(tree: Tree) -> bool:
    """Decides whether a tree is a value of the past (`delayed`, `mean_over`, ...) that depends on some name."""
    return isinstance(tree, Call) and tree.function in PAST and bool(names(tree.arguments[0]))


def at_other_times(tree: Tree, constant: frozenset[str], time: str) -> Tree:
    """Returns the tree at another time: everything but constants has another name."""
    return rename(tree, lambda path: path if path in constant else f"{path}@{time}")


def copied(values: Values, trees: Iterable[Tree]) -> dict[str, Interval]:
    """Returns the ranges of names at other times: those of the names."""
    used = {name for tree in trees for name in names(tree) if "@" in name}
    return {name: values[base] for name in used if (base := name.rpartition("@")[0]) in values}


def truths(trees: Iterable[Tree]) -> frozenset[str]:
    """Returns the names that stand where a condition is needed."""
    flags: set[str] = set()
    for tree in trees:
        _truths(tree, flags, wanted=True)
    return frozenset(flags)


def _truths(tree: Tree, flags: set[str], *, wanted: bool) -> None:
    match tree:
        case Name(path=path):
            flags |= {path} if wanted else set()
        case Logic(terms=terms):
            for term in terms:
                _truths(term, flags, wanted=True)
        case Choose(condition=condition, then=then, otherwise=otherwise):
            _truths(condition, flags, wanted=True)
            for branch in (then, otherwise):
                _truths(branch, flags, wanted=wanted)
        case _:
            for part in children(tree):
                _truths(part, flags, wanted=False)


@dataclass(frozen=True)
class SatQuery:
    """Conditions over names with ranges; `whole` names take whole numbers only."""

    conditions: tuple[Tree, ...]
    values: Values
    whole: frozenset[str] = frozenset()

    def script(self, chosen: Sequence[int] | None = None, dropped: frozenset[str] = frozenset()) -> str:
        """Returns SMT-LIB, unsat where no state fulfils the chosen conditions (all); `dropped` names have no range."""
        conditions = [self.conditions[i] for i in (range(len(self.conditions)) if chosen is None else chosen)]
        flags = truths(conditions)
        used = tuple(dict.fromkeys(name for tree in conditions for name in names(tree)))
        sorts = {symbol(name): "Bool" if name in flags else "Real" for name in used}
        numeric = [name for name in used if name not in flags and name not in dropped]
        facts = [fact for name in numeric for fact in self._facts(name)]
        facts += [lower_smt(tree) for tree in conditions]
        return _with_logic(Certificate(sorts, tuple(facts), "false").script(), conditions)

    def state_script(self, state: SatState) -> str:
        """Returns SMT-LIB, unsat where all conditions hold in the state."""
        sorts = {symbol(name): "Bool" if isinstance(value, bool) else "Real" for name, value in state.at.items()}
        values = {
            name: str(value).lower() if isinstance(value, bool) else rational(value) for name, value in state.at.items()
        }
        facts = tuple(f"(= {symbol(name)} {value})" for name, value in values.items())
        claim = f"(and true {' '.join(map(lower_smt, self.conditions))})"
        return _with_logic(Certificate(sorts, facts, claim).script(), self.conditions)

    def _facts(self, name: str) -> Iterator[str]:
        term, span = symbol(name), self.values.get(name, EVERYTHING)
        if span.exact and span.low is not None:
            yield f"(= {term} {rational(span.low)})"
            return
        yield from bounds(term, span)
        if name in self.whole:
            yield f"(= {term} (to_real (to_int {term})))"


def _with_logic(script: str, trees: Sequence[Tree]) -> str:
    """Returns the logic that the script needs: linear, with whole parts, or polynomial."""
    product = any(
        isinstance(node, Arithmetic) and node.op in "*/" and names(node.right) and (node.op == "/" or names(node.left))
        for tree in trees for node in walk(tree)
    )  # fmt: skip
    whole = "to_int" in script
    logic = f"QF_{'N' if product else 'L'}{'IRA' if whole else 'RA'}"
    return script.replace("QF_LRA", logic, 1).replace("QF_LIRA", logic, 1)


def sat_query(facts: DesignFacts, trees: Iterable[Tree], *, steady: bool) -> SatQuery:
    """Returns the query over constants, commands, states and outside things.  Raises NotExactError: exp and log."""
    expanded = [facts.tree(tree) for tree in trees]
    conditions = tuple(plain(tree, steady=steady) for tree in expanded)
    spans = stated(facts, {name for tree in conditions for name in names(tree)})
    if not steady:
        for tree in expanded:
            spans |= past_ranges(tree, facts.values)
    return SatQuery(conditions, spans, whole(facts))


def solve_query(query: SatQuery) -> SatState | SolverAnswer:
    """Returns an exact state in which all conditions hold, or the solver's answer (unsat, or unknown, with reason)."""
    from coherence.verify.facts.plain_numbers import rounder

    try:
        answer = unsat(query.script(), timeout_ms=TIMEOUT_MS)
    except NotExactError as error:
        return SolverAnswer(Outcome.UNKNOWN, str(error))
    if answer.outcome is not Outcome.SAT:
        return answer
    state = SatState({**_fixed(query), **read_model(answer.model)})
    if all(state.holds(tree) for tree in query.conditions):
        return SatState(
            rounder(state.at, query.values, lambda at: all(SatState(at).holds(t) for t in query.conditions))
        )
    return SolverAnswer(Outcome.UNKNOWN, "the state that was found is not defined everywhere")


def _fixed(query: SatQuery) -> dict[str, Fraction | bool]:
    """Returns a value for every name that the solver left open."""
    flags = truths(query.conditions)
    used = {name for tree in query.conditions for name in names(tree)}
    return {name: False if name in flags else _inside(query.values.get(name, EVERYTHING)) for name in sorted(used)}


def _inside(span: Interval) -> Fraction:
    return span.clip(Fraction(0))


def read_model(text: str) -> dict[str, Fraction | bool]:
    """Returns the rational and Boolean values of a solver's model; others (roots) are left out."""
    values: dict[str, Fraction | bool] = {}
    for line in text.split("\n"):
        name, _, shown = line.rpartition(" = ")
        if shown in ("True", "False"):
            values[name] = shown == "True"
            continue
        try:
            values[name] = Fraction(shown)
        except ValueError:
            continue
    return values


def core(query: SatQuery, *, least: Sequence[int] | None = None) -> tuple[int, ...] | None:
    """Returns a minimal set of conditions that no state fulfils together; None where that is not shown in time."""
    conflicting = list(range(len(query.conditions)) if least is None else least)
    if not unsat(query.script(conflicting), timeout_ms=TIMEOUT_MS).unsat:
        return None
    for index in list(conflicting):
        fewer = [i for i in conflicting if i != index]
        if fewer and unsat(query.script(fewer), timeout_ms=TIMEOUT_MS).unsat:
            conflicting = fewer
    return tuple(conflicting)


def needed_ranges(query: SatQuery, chosen: Sequence[int]) -> tuple[str, ...]:
    """Returns the names whose ranges a core cannot do without (a minimal set of them)."""
    used = dict.fromkeys(name for i in chosen for name in names(query.conditions[i]))
    dropped: frozenset[str] = frozenset()
    for name in used:
        if query.values.get(name, EVERYTHING) == EVERYTHING:
            continue
        more = dropped | {name}
        if next(iter(unsat_each([query.script(chosen, more)], timeout_ms=TIMEOUT_MS))).unsat:
            dropped = more
    return tuple(name for name in used if name not in dropped and query.values.get(name, EVERYTHING) != EVERYTHING)


def both(*trees: Tree | None) -> Tree | None:
    """Returns the conjunction; None where nothing is asked."""
    kept = tuple(tree for tree in trees if tree is not None)
    return None if not kept else kept[0] if len(kept) == 1 else Logic("and", kept)


def opposite(tree: Tree) -> Tree:
    """Returns the condition that holds where this one does not."""
    if isinstance(tree, Compare):
        return Compare(NEGATED[tree.op], tree.left, tree.right)
    return Logic("not", (tree,))
