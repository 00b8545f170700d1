"""Strategies and helpers shared by tests: expressions, YAML trees and how they are written, hostile text."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from random import Random

from hypothesis import strategies as st

from coherence.base.errors import InputError, Problem
from coherence.language.expressions.tree import Arithmetic, Call, Choose, Compare, Logic, Name, Number, Tree, Truth


def problems_in(read: Callable[[], object]) -> tuple[Problem, ...]:
    """What an input error of the call says; nothing where it went through."""
    try:
        read()
    except InputError as error:
        return error.problems
    return ()


NAMES = ("x", "y", "z.a")
# literals that a decimal writes exactly, and whose products a double holds exactly
LITERALS = tuple(Fraction(n, d) for n in range(-12, 13) for d in (1, 2, 4))


def literals() -> st.SearchStrategy[Tree]:
    """Small dyadic numbers without unit."""
    return st.sampled_from(LITERALS).map(Number)


def leaves() -> st.SearchStrategy[Tree]:
    """A number or one of three names."""
    return literals() | st.sampled_from(NAMES).map(Name)


def numeric(*, division: bool = True, size: int = 6) -> st.SearchStrategy[Tree]:
    """Number-valued trees over `NAMES`, with every operator that has a value at one instant."""
    return st.recursive(leaves(), lambda inner: _operations(inner, division=division), max_leaves=size)


def _operations(inner: st.SearchStrategy[Tree], *, division: bool) -> st.SearchStrategy[Tree]:
    ops = ["+", "-", "*", *(["/"] if division else [])]
    extremes = st.tuples(st.sampled_from(["min", "max"]), st.lists(inner, min_size=1, max_size=3).map(tuple))
    single = st.tuples(st.sampled_from(["abs", "floor", "ceil"]), st.tuples(inner))
    return st.one_of(
        st.builds(Arithmetic, st.sampled_from(ops), inner, inner),
        st.one_of(extremes, single).map(lambda pair: Call(*pair)),
        st.builds(Choose, comparisons(inner), inner, inner),
    )


def comparisons(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    """One comparison of two numbers."""
    return st.builds(Compare, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), inner, inner)


def conditions(*, division: bool = True) -> st.SearchStrategy[Tree]:
    """Truth-valued trees."""
    atoms = comparisons(numeric(division=division, size=3)) | st.booleans().map(Truth)
    return st.recursive(atoms, _connectives, max_leaves=4)


def _connectives(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.builds(Logic, st.sampled_from(["and", "or"]), several) | st.builds(
        Logic, st.just("not"), st.tuples(inner)
    )


def points() -> st.SearchStrategy[dict[str, Fraction]]:
    """A value for each name."""
    return st.fixed_dictionaries({name: st.sampled_from(LITERALS) for name in NAMES})


def written(tree: Tree) -> str:
    """A text of the tree, every operation in brackets."""
    match tree:
        case Number(value=value):
            return f"({float(value)})" if value < 0 else str(float(value))
        case Truth(value=value):
            return "true" if value else "false"
        case Name(path=path):
            return path
        case Arithmetic(op=op, left=left, right=right) | Compare(op=op, left=left, right=right):
            return f"({written(left)} {op} {written(right)})"
        case Logic(op="not", terms=(term,)):
            return f"(not {written(term)})"
        case Logic(op=op, terms=terms):
            return f"({f' {op} '.join(map(written, terms))})"
        case Choose(condition=condition, then=then, otherwise=otherwise):
            return f"({written(then)} if {written(condition)} else {written(otherwise)})"
        case Call(function=function, arguments=arguments):
            return f"{function}({', '.join(map(written, arguments))})"
    raise AssertionError(tree)


def yaml_trees() -> st.SearchStrategy[object]:
    """Mappings and lists of short texts."""
    text = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_categories=("Cc", "Cs")), max_size=8)
    keys = st.text("abcdefg_ é:#", min_size=1, max_size=5)
    return st.recursive(
        text,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
        max_leaves=12,
    )


def flow_yaml(node: object) -> str:
    """The tree in flow style on one line, every text in double quotes."""
    match node:
        case dict():
            return "{" + ", ".join(f"{flow_yaml(k)}: {flow_yaml(v)}" for k, v in node.items()) + "}"
        case list():
            return "[" + ", ".join(map(flow_yaml, node)) + "]"
    return json.dumps(node, ensure_ascii=False)


def block_yaml(node: object, indent: int = 0) -> str:
    """The tree in block style, one entry a line."""
    pad = " " * indent
    match node:
        case dict() if node:
            return "".join(f"{pad}{flow_yaml(k)}:{_below(v, indent)}" for k, v in node.items())
        case list() if node:
            return "".join(f"{pad}-{_below(v, indent)}" for v in node)
    return f"{pad}{flow_yaml(node)}\n"


def _below(node: object, indent: int) -> str:
    if isinstance(node, dict | list) and node:
        return "\n" + block_yaml(node, indent + 2)
    return f" {flow_yaml(node)}\n"


SCRAPS = (
    "coherence: 1\n",
    "loops:\n",
    "  a: {",
    "}",
    "[",
    "]",
    "- ",
    "&x ",
    "*x ",
    "<<: ",
    "!!python/object ",
    "| \n",
    ">-\n",
    "'",
    '"',
    "#",
    ": ",
    "\t",
    "\r",
    "\x00",
    "\u2028",
    "\ufeff",
    "\ud800",
    "1e999",
    "9" * 50,
    "500 ms",
    "..",
    "varies: ",
    "timescale: {period: ",
    "trigger: ",
    "actuation: {signal: a.b}",
    "uses: kubernetes_hpa",
    "promises: {p: never a}",
    "\n",
    "calls:\n  - {from: a, to: b, tries: 3}\n",
    "timers: {t: {after: 3 s}}\n",
    "limits: {l: {at_most: 5}}\n",
    "%",
    "---\n",
)


def scraps() -> st.SearchStrategy[str]:
    """Text that looks like parts of a design, in no order."""
    return st.lists(st.sampled_from(SCRAPS) | st.text(max_size=4), max_size=20).map("".join)


Write = Callable[[Fraction], str]


class Drawn:
    """A whole design as parts that share nothing; each part is a function from a way to write times to its entries."""

    def __init__(self, entries: list[Callable[[Write], dict[str, list[str]]]]) -> None:
        self.entries = entries

    def text(self, *, scale: Fraction = Fraction(1), reverse: bool = False) -> str:
        """The design with all times multiplied by `scale`, entries and sections in reverse order."""
        made: dict[str, list[str]] = {}
        for entry in self.entries:
            for section, lines in entry(lambda seconds: _seconds(seconds * scale)).items():
                made.setdefault(section, []).extend(lines)
        sections = [(name, lines[::-1] if reverse else lines) for name, lines in made.items()]
        body = (f"{name}:\n" + "".join(f"  {line}\n" for line in lines) for name, lines in sections)
        return "coherence: 1\n" + "".join(list(body)[:: -1 if reverse else 1])


def _seconds(value: Fraction) -> str:
    for unit, size in (("s", 1), ("ms", 1000), ("us", 10**6), ("ns", 10**9)):
        if (value * size).denominator == 1:
            return f"{(value * size).numerator} {unit}"
    raise ValueError(value)


def designs(*, size: int = 4) -> st.SearchStrategy[Drawn]:
    """Calls in chains, timers on activities, limits, loops with one signal, placements; each number near its limit."""
    return st.lists(st.randoms(use_true_random=False), min_size=1, max_size=size).map(
        lambda draws: Drawn([_entry(number, draw) for number, draw in enumerate(draws)])
    )


def _entry(number: int, draw: Random) -> Callable[[Write], dict[str, list[str]]]:
    kinds = (_called, _probed, _leased, _limited, _written_twice, _placed, _raced)
    return draw.choice(kinds)(f"n{number}", draw)


def _called(name: str, draw: Random) -> Callable[[Write], dict[str, list[str]]]:
    tries, inner, most = draw.randint(1, 4), draw.randint(1, 3), draw.randint(1, 12)
    each, deadline, below = (Fraction(draw.randint(1, 8), 2) for _ in range(3))
    why, stop = draw.choice(("timeout", "unavailable")), draw.choice(("cancel", "abandon"))
    deadline *= tries

    def write(t: Write) -> dict[str, list[str]]:
        first = f"from: {name}_in, to: {name}, deadline: {t(deadline)}, per_try: {t(each)}, tries: {tries}"
        second = f"from: {name}, to: {name}_db, deadline: {t(below * inner)}, per_try: {t(below)}, tries: {inner}"
        rest = f"retry_when: [{why}], on_timeout: {stop}"
        return {
            "calls": [f"- {{{first}, {rest}}}", f"- {{{second}, {rest}}}"],
            "promises": [f"{name}_few: attempts({name}_db) per call({name}_in) <= {most}"],
        }

    return write


def _probed(name: str, draw: Random) -> Callable[[Write], dict[str, list[str]]]:
    low, width, first, every = (Fraction(draw.randint(1, 40)) for _ in range(4))
    misses, then = draw.randint(1, 6), draw.choice(("restart", "unlist"))

    def write(t: Write) -> dict[str, list[str]]:
        timer = f"from: {name} starts, first: {t(first)}, every: {t(every)}, misses: {misses}, unless: {name}.load ends"
        return {
            "components": [f"{name}: {{takes: {{load: {t(low)} .. {t(low + width)}}}}}"],
            "timers": [f"{name}_probe: {{{timer}, then: {then} {name}}}"],
        }

    return write


def _leased(name: str, draw: Random) -> Callable[[Write], dict[str, list[str]]]:
    low, width, lease = (Fraction(draw.randint(1, 60)) for _ in range(3))

    def write(t: Write) -> dict[str, list[str]]:
        timer = f"from: {name}.task starts, after: {t(lease)}, unless: {name}.task ends, then: redeliver"
        return {
            "components": [f"{name}: {{takes: {{task: {t(low)} .. {t(low + width)}}}}}"],
            "timers": [f"{name}_lease: {{{timer}}}"],
        }

    return write


def _limited(name: str, draw: Random) -> Callable[[Write], dict[str, list[str]]]:
    turns, most = draw.randint(2, 12), draw.randint(2, 30)
    limit = f"{name}_steps: {{counts: 2 * {name}.turns + 1, at_most: {most}, per: run, when_full: fail and lose}}"
    return lambda _: {"components": [f"{name}: {{turns: 2 .. {turns}}}"], "limits": [limit]}


def _written_twice(name: str, draw: Random) -> Callable[[Write], dict[str, list[str]]]:
    values, periods = [draw.randint(1, 4) for _ in range(2)], [Fraction(draw.randint(1, 9)) for _ in range(2)]

    def write(t: Write) -> dict[str, list[str]]:
        return {
            "loops": [
                f"{name}_{word}: {{timescale: {{period: {t(period)}}}, trigger: always,"
                f" actuation: {{signal: {name}.size, law: set, to: {value}}}}}"
                for word, value, period in zip(("one", "two"), values, periods, strict=True)
            ]
        }

    return write


def _placed(name: str, draw: Random) -> Callable[[Write], dict[str, list[str]]]:
    copies = draw.randint(1, 6)
    return lambda _: {
        "components": [f"{name}: {{copies: {copies}, returns: always}}"],
        "placement": [f"{name}: [spread by zone <= 1]"],
        "places": [f"{name}_a: {{zone: a}}", f"{name}_b: {{zone: b}}"],
    }


def _raced(name: str, draw: Random) -> Callable[[Write], dict[str, list[str]]]:
    one, two, dump = (Fraction(draw.randint(1, 30)) for _ in range(3))

    def write(t: Write) -> dict[str, list[str]]:
        return {
            "components": [f"{name}: {{takes: {{dump: {t(dump)}}}}}"],
            "timers": [
                f"{name}_heart: {{from: {name} step hangs, after: {t(one)}, then: {name}.dump starts}}",
                f"{name}_abort: {{from: {name} step hangs, after: {t(two)}, then: abort job}}",
            ],
            "promises": [f"{name}_kept: {name}.dump ends before {name}_abort"],
        }

    return write
