"""Strategies and helpers shared by tests: expressions, YAML trees and how they are written, hostile text."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction

from hypothesis import strategies as st

from coherence.errors import InputError, Problem
from coherence.expressions.tree import Arithmetic, Call, Choose, Compare, Logic, Name, Number, Tree, Truth


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
