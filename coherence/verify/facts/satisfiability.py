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

from coherence.base.solver import Answer, Outcome, unsat, unsat_each
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
from coherence.verify.facts.design_facts import Known
from coherence.verify.facts.plain_numbers import rounder
from coherence.verify.facts.range_claims import bounds
from coherence.verify.facts.ranges import FUNCTIONS, PAST, Values, enclosure
from coherence.verify.facts.state_ranges import stated, whole

TIMEOUT_MS = 3_000


@dataclass(frozen=True)
class World:
    """An exact state: what every free name is worth there."""

    at: Mapping[str, Fraction | bool]

    def holds(self, tree: Tree) -> bool | None:
        """The truth of a condition there; None where it is not defined (division by zero)."""
        try:
            return bool(evaluate(tree, Constants(self.at)))
        except (NotExactError, TypeError):
            return None


def plain(tree: Tree, *, steady: bool) -> Tree:
    """The tree without time: what lasts or was before becomes what is now (`steady`), or a name of its own."""
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
    """A name for what is not computed here: the same words, the same name."""
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
    """The range of each value of the past in the tree: that of what it is the past of."""
    found = {}
    for node in walk(tree):
        if isinstance(node, Call) and node.function in PAST:
            found[past_name(node)] = enclosure(node.arguments[0], values)
    return found


def is_past(tree: Tree) -> bool:
    """A value of the past (`delayed`, `mean_over`, ...) that depends on some name."""
    return isinstance(tree, Call) and tree.function in PAST and bool(names(tree.arguments[0]))


def at_other_times(tree: Tree, constant: frozenset[str], time: str) -> Tree:
    """The tree at another time: everything but constants has another name."""
    return rename(tree, lambda path: path if path in constant else f"{path}@{time}")


def copied(values: Values, trees: Iterable[Tree]) -> dict[str, Interval]:
    """The ranges of names at other times: those of the names."""
    used = {name for tree in trees for name in names(tree) if "@" in name}
    return {name: values[base] for name in used if (base := name.rpartition("@")[0]) in values}


def truths(trees: Iterable[Tree]) -> frozenset[str]:
    """Names that stand where a condition is needed."""
    found: set[str] = set()
    for tree in trees:
        _truths(tree, found, wanted=True)
    return frozenset(found)


def _truths(tree: Tree, found: set[str], *, wanted: bool) -> None:
    match tree:
        case Name(path=path):
            found |= {path} if wanted else set()
        case Logic(terms=terms):
            for term in terms:
                _truths(term, found, wanted=True)
        case Choose(condition=condition, then=then, otherwise=otherwise):
            _truths(condition, found, wanted=True)
            for branch in (then, otherwise):
                _truths(branch, found, wanted=wanted)
        case _:
            for part in children(tree):
                _truths(part, found, wanted=False)


@dataclass(frozen=True)
class Question:
    """Conditions over names with ranges; `whole` names take whole numbers only."""

    conditions: tuple[Tree, ...]
    values: Values
    whole: frozenset[str] = frozenset()

    def script(self, chosen: Sequence[int] | None = None, dropped: frozenset[str] = frozenset()) -> str:
        """SMT-LIB, unsatisfiable where no state fulfils the chosen conditions (all); `dropped` names have no range."""
        kept = [self.conditions[i] for i in (range(len(self.conditions)) if chosen is None else chosen)]
        flags = truths(kept)
        used = tuple(dict.fromkeys(name for tree in kept for name in names(tree)))
        sorts = {symbol(name): "Bool" if name in flags else "Real" for name in used}
        numeric = [name for name in used if name not in flags and name not in dropped]
        facts = [fact for name in numeric for fact in self._facts(name)]
        facts += [lower_smt(tree) for tree in kept]
        return _with_logic(Certificate(sorts, tuple(facts), "false").script(), kept)

    def _facts(self, name: str) -> Iterator[str]:
        term, span = symbol(name), self.values.get(name, EVERYTHING)
        if span.exact and span.low is not None:
            yield f"(= {term} {rational(span.low)})"
            return
        yield from bounds(term, span)
        if name in self.whole:
            yield f"(= {term} (to_real (to_int {term})))"


def _with_logic(script: str, trees: Sequence[Tree]) -> str:
    """The logic that the script needs: linear, with whole parts, or polynomial."""
    product = any(
        isinstance(node, Arithmetic) and node.op in "*/" and names(node.right) and (node.op == "/" or names(node.left))
        for tree in trees for node in walk(tree)
    )  # fmt: skip
    whole = "to_int" in script
    logic = f"QF_{'N' if product else 'L'}{'IRA' if whole else 'RA'}"
    return script.replace("QF_LRA", logic, 1).replace("QF_LIRA", logic, 1)


def question(facts: Known, conditions: Iterable[Tree], *, steady: bool) -> Question:
    """The conditions over constants, commands, states and outside things.  Raises NotExactError: exp and log."""
    expanded = [facts.tree(tree) for tree in conditions]
    spans = stated(facts)
    if not steady:
        for tree in expanded:
            spans |= past_ranges(tree, facts.values)
    return Question(tuple(plain(tree, steady=steady) for tree in expanded), spans, whole(facts))


def world(asked: Question) -> World | Answer:
    """An exact state in which all conditions hold, or the solver's answer (unsat, or unknown with its reason)."""
    try:
        answer = unsat(asked.script(), timeout_ms=TIMEOUT_MS)
    except NotExactError as error:
        return Answer(Outcome.UNKNOWN, str(error))
    if answer.outcome is not Outcome.SAT:
        return answer
    found = World({**_fixed(asked), **read_model(answer.model)})
    if all(found.holds(tree) for tree in asked.conditions):
        return World(rounder(found.at, asked.values, lambda at: all(World(at).holds(t) for t in asked.conditions)))
    return Answer(Outcome.UNKNOWN, "the state that was found is not defined everywhere")


def _fixed(asked: Question) -> dict[str, Fraction | bool]:
    """A value for every name that the solver left open."""
    flags = truths(asked.conditions)
    used = {name for tree in asked.conditions for name in names(tree)}
    return {name: False if name in flags else _inside(asked.values.get(name, EVERYTHING)) for name in sorted(used)}


def _inside(span: Interval) -> Fraction:
    return span.clip(Fraction(0))


def read_model(text: str) -> dict[str, Fraction | bool]:
    """The rational and Boolean values of a solver's model; others (roots) are left out."""
    found: dict[str, Fraction | bool] = {}
    for line in text.split("\n"):
        name, _, shown = line.rpartition(" = ")
        if shown in ("True", "False"):
            found[name] = shown == "True"
            continue
        try:
            found[name] = Fraction(shown)
        except ValueError:
            continue
    return found


def core(asked: Question, *, least: Sequence[int] | None = None) -> tuple[int, ...] | None:
    """A minimal set of conditions that no state fulfils together; None where that is not shown in time."""
    kept = list(range(len(asked.conditions)) if least is None else least)
    if not unsat(asked.script(kept), timeout_ms=TIMEOUT_MS).unsat:
        return None
    for index in list(kept):
        fewer = [i for i in kept if i != index]
        if fewer and unsat(asked.script(fewer), timeout_ms=TIMEOUT_MS).unsat:
            kept = fewer
    return tuple(kept)


def needed_ranges(asked: Question, chosen: Sequence[int]) -> tuple[str, ...]:
    """The names whose ranges a core cannot do without (a minimal set of them)."""
    used = dict.fromkeys(name for i in chosen for name in names(asked.conditions[i]))
    dropped: frozenset[str] = frozenset()
    for name in used:
        if asked.values.get(name, EVERYTHING) == EVERYTHING:
            continue
        more = dropped | {name}
        if next(iter(unsat_each([asked.script(chosen, more)], timeout_ms=TIMEOUT_MS))).unsat:
            dropped = more
    return tuple(name for name in used if name not in dropped and asked.values.get(name, EVERYTHING) != EVERYTHING)


def both(*trees: Tree | None) -> Tree | None:
    """The conjunction; None where nothing is asked."""
    kept = tuple(tree for tree in trees if tree is not None)
    return None if not kept else kept[0] if len(kept) == 1 else Logic("and", kept)


def opposite(tree: Tree) -> Tree:
    """The condition that holds where this one does not."""
    if isinstance(tree, Compare):
        return Compare(NEGATED[tree.op], tree.left, tree.right)
    return Logic("not", (tree,))
