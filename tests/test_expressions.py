"""Expressions: one parser, a closed vocabulary, and four lowerings that agree."""

from __future__ import annotations

import math
import pickle
import sys
import time
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coherence.base import solver
from coherence.base.units import ONE, SECOND, UNITS
from coherence.language.expressions import ExpressionError, names, parse, walk
from coherence.language.expressions.evaluate import NotExactError, evaluate
from coherence.language.expressions.lower_numpy import lower_numpy
from coherence.language.expressions.lower_smt import lower_smt, real, symbol
from coherence.language.expressions.lower_sympy import lower_sympy
from coherence.language.expressions.parse import FUNCTIONS, MAX_DEPTH, MAX_LENGTH, MAX_NESTING
from coherence.language.expressions.tree import (
    Arithmetic,
    Call,
    Choose,
    Compare,
    Held,
    Logic,
    Name,
    Number,
    Tree,
    Truth,
    depth,
    is_boolean,
    rename,
)
from tests.draws import few
from tests.strategies import NAMES, conditions, numeric, points, scraps, written

X, Y = Name("x"), Name("y")


class Now:
    """An environment of constants, which has no past."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def value(self, path: str) -> Any:
        return self.values[path]

    def _past(self, *_: object) -> Any:
        raise NotExactError("no history")

    delayed = mean_over = sampled = max_over = held = previous = _past


def number(value: object) -> Number:
    """A bare number."""
    return Number(Fraction(str(value)))


def value_of(text: str, **values: object) -> Any:
    """The exact value of a text."""
    return evaluate(parse(text), Now({name: Fraction(str(v)) for name, v in values.items()}))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("1 + 2 * 3", "1 + (2 * 3)"),
        ("x - y - 1", "(x - y) - 1"),
        ("x / y / 2", "(x / y) / 2"),
        ("x / y * 2", "(x / y) * 2"),
        ("100 / 5 s", "100 / (5 s)"),
        ("10 req / 2 req/s", "(10 req) / (2 req/s)"),
        ("25 % of x * 2", "(25 % of x) * 2"),
        ("25 % of x + y", "(25 % of x) + y"),
        ("x + y round up", "ceil(x + y)"),
        ("x / 3 round down > 2", "floor(x / 3) > 2"),
        ("not x > 1 and y > 1", "(not (x > 1)) and (y > 1)"),
        ("x or y and x", "x or (y and x)"),
        ("x if y > 1 else 2 if y > 0 else 3", "x if (y > 1) else (2 if (y > 0) else 3)"),
        ("x > 1 for 30 s and y", "((x > 1) for 30 s) and y"),
        ("x + 1 > y * 2", "(x + 1) > (y * 2)"),
        ("- x * y", "(-x) * y"),
        ("2 - -3", "2 - (-3)"),
        ("--x", "x"),
        ("sum of x / 2 round up", "sum of (x / 2 round up)"),
        ("5 s * 2", "(5 s) * 2"),
        ("min(3, x)", "min((3), (x))"),
    ],
)
def test_precedence(text: str, same: str) -> None:
    assert parse(text) == parse(same)


def test_a_literal_takes_the_longest_unit_that_is_one() -> None:
    assert parse("2 s*ready") == Arithmetic("*", Number(Fraction(2), SECOND), Name("ready"))
    assert parse("25 req/s") == Number(Fraction(25), UNITS["req"][1] / SECOND)
    assert parse("25 req/ready") == Arithmetic("/", Number(Fraction(25), UNITS["req"][1]), Name("ready"))
    assert parse("3 min") == Number(Fraction(180), SECOND)
    assert parse("min(3 min, x)") == Call("min", (Number(Fraction(180), SECOND), X))
    assert parse("5 %") == number("0.05")
    assert parse("5 % of x") == Arithmetic("*", number("0.05"), X)


@pytest.mark.parametrize("text", ["5 MB/s", "5 MB / s", "5 MB/ s", "5 MB /s"])
def test_the_time_of_a_unit_may_stand_behind_a_blank(text: str) -> None:
    size = UNITS["MB"]
    assert parse(text) == Number(5 * size[0], size[1] / SECOND)
    assert parse(f"x + {text} * y") == Arithmetic("+", X, Arithmetic("*", Number(5 * size[0], size[1] / SECOND), Y))


def test_what_follows_a_number_without_a_unit_or_is_no_unit_is_a_name() -> None:
    per_second = Number(Fraction(1, 20), UNITS["%"][1] / SECOND)
    assert parse("5 % / s") == parse("5 %/s") == per_second
    assert parse("5 / s") == Arithmetic("/", number(5), Name("s"))
    for name in ("x", "s.rate", "seconds", "MB"):
        assert parse(f"5 % / {name}") == Arithmetic("/", number("0.05"), Name(name))
    assert parse("5 % / min(x, y)") == Arithmetic("/", number("0.05"), Call("min", (X, Y)))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("true", Truth(value=True)),
        ("x.y.z", Name("x.y.z")),
        ("-3", number(-3)),
        ("-x", Arithmetic("-", number(0), X)),
        ("x > 1 for 30 s", Held(Compare(">", X, number(1)), Fraction(30))),
        ("not x", Logic("not", (X,))),
        ("x and y and x", Logic("and", (X, Y, X))),
        ("retries in flight", Call("in flight", (Name("retries"),))),
        ("count of web by node", Call("count by", (Name("web"), Name("node")))),
        ("delayed(x, 15 s)", Call("delayed", (X, Number(Fraction(15), SECOND)))),
        ("x if y else 2", Choose(Y, X, number(2))),
        ("20 % of web in flight", Arithmetic("*", number("0.2"), Call("in flight", (Name("web"),)))),
    ],
)
def test_what_a_text_means(text: str, tree: Tree) -> None:
    assert parse(text) == tree


def test_spans_point_at_the_parts() -> None:
    text = "x + 30 s > delayed(y, 2 s)"
    spans = {text[node.span[0] : node.span[1]] for node in walk(parse(text))}
    assert spans == {text, "x + 30 s", "x", "30 s", "delayed(y, 2 s)", "y", "2 s"}


@pytest.mark.parametrize(
    ("text", "words", "remedy", "span"),
    [
        ("if(a > 1, 2, 3)", "'if' is not a function", "write `a if condition else b`", (0, 2)),
        ("x +", "a value expected, the end found", "", (3, 4)),
        ("x y", "an operator or the end expected, 'y' found", "", (2, 3)),
        ("x = 3", "'=' is not used", "comparisons", (2, 3)),
        ("x > 1 > 0", "an operator or the end expected, '>' found", "", (6, 7)),
        ("5 secs", "unknown unit 'secs'", "", (2, 6)),
        ("5 mss + x", "unknown unit 'mss'", "did you mean 'ms'", (2, 5)),
        ("minn(x)", "'minn' is not a function", "did you mean 'min'", (0, 4)),
        ("abs(x, y)", "abs() takes 1 argument(s), 2 given", "", (0, 9)),
        ("min()", "a value expected, ')' found", "", (4, 5)),
        ("(x", "')' expected, the end found", "", (2, 3)),
        ("x > 1 for y", "a duration expected after 'for'", "for 30 s", (10, 11)),
        ("x > 1 for 3 req", "a duration expected after 'for'", "for 30 s", (10, 15)),
        ("x if y", "'else' expected, the end found", "", (6, 7)),
        ("count of 3 by node", "a name expected", "", (9, 10)),
        ("and", "a value expected, 'and' found", "", (0, 3)),
        ("", "a value expected, the end found", "", (0, 1)),
        ("x > 'a'", "''' is not used", "names, numbers", (4, 5)),
    ],
)
def test_what_is_no_expression_says_where_and_why(text: str, words: str, remedy: str, span: tuple[int, int]) -> None:
    with pytest.raises(ExpressionError) as raised:
        parse(text)
    assert words in str(raised.value)
    assert remedy in raised.value.remedy
    assert raised.value.span == span


CODE = (
    "__import__('os').system('touch hacked')",
    "__import__(os)",
    "eval(x)",
    "exec(x)",
    "open(x)",
    "lambda: 1",
    "lambda x: x",
    "f'{x}'",
    '"abc"',
    "x.__class__()",
    "().__class__",
    "[x for x in y]",
    "{x}",
    "x[0]",
    "x := 3",
    "x ** 9 ** 9",
    "x; y",
    "x @ y",
    "x | y",
    "x // y",
    "x % y",
    "x\\y",
    "print(x)",
    "getattr(x, y)",
    "os.system(x)",
    "S(x)",
    "x`y`",
    "$(x)",
)


@pytest.mark.parametrize("text", CODE)
def test_text_is_never_executed(text: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ExpressionError):
        parse(text)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["x.__class__.__bases__", "__import__", "S", "N", "E", "I", "Q", "beta", "lambda"])
def test_names_that_mean_something_elsewhere_are_only_names_here(name: str) -> None:
    assert parse(name) == Name(name)
    assert lower_sympy(parse(f"{name} + 1")) == sympy.Symbol(name) + 1
    with pytest.raises(KeyError):
        evaluate(parse(name), Now({}))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(" * 3000, f"deeper than {MAX_NESTING} levels"),
        ("not " * 900 + "x", f"deeper than {MAX_NESTING} levels"),
        ("5 % of " * 500 + "x", f"deeper than {MAX_NESTING} levels"),
        ("sum of " * 500 + "x", f"deeper than {MAX_NESTING} levels"),
        ("abs(" * 900, f"deeper than {MAX_NESTING} levels"),
        ("x if y else " * 300 + "x", f"deeper than {MAX_NESTING} levels"),
        ("x + " * 900 + "x", f"at most {MAX_DEPTH}"),
        ("x" * (MAX_LENGTH + 1), f"has {MAX_LENGTH + 1} characters"),
        ("9" * 5000, "has 5000 characters"),
        ("1e9999", "'9' found"),
    ],
)
def test_length_and_depth_are_bounded(text: str, words: str) -> None:
    start = time.thread_time()
    with pytest.raises(ExpressionError) as raised:
        parse(text)
    assert words in f"{raised.value} {raised.value.remedy}"
    assert time.thread_time() - start < 2


def test_what_is_allowed_can_be_evaluated_with_room_to_spare() -> None:
    deep = "(" * (MAX_NESTING - 1) + "x" + ")" * (MAX_NESTING - 1)
    wide = " + ".join(["x"] * (MAX_DEPTH - 1))
    frames = sys.getrecursionlimit()
    sys.setrecursionlimit(frames_in_use() + 600)
    try:
        assert evaluate(parse(deep), Now({"x": Fraction(1)})) == 1
        assert evaluate(parse(wide), Now({"x": Fraction(1)})) == MAX_DEPTH - 1
        assert names(rename(parse(wide), lambda _: "y")) == ("y",)
        assert lower_smt(parse(wide))
    finally:
        sys.setrecursionlimit(frames)


def frames_in_use() -> int:
    """The depth of the stack of the caller."""
    frame, count = sys._getframe(1), 0
    while frame.f_back is not None:
        frame, count = frame.f_back, count + 1
    return count


def test_numbers_that_outgrow_every_use_are_an_answer_not_a_hang() -> None:
    start = time.thread_time()
    with pytest.raises(NotExactError, match="bits"):
        value_of(" * ".join(["1e999"] * 140))
    assert time.thread_time() - start < 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 / 3 + 1 / 6", Fraction(1, 2)),
        ("7 / 2 round up", 4),
        ("-7 / 2 round up", -3),
        ("-7 / 2 round down", -4),
        ("min(3, 1, 2) + max(3, 1, 2)", 4),
        ("abs(-3)", 3),
        ("2 min - 90 s", 30),
        ("25 % of 8", 2),
        ("1 if 2 > 1 else 1 / 0", 1),
        ("true and not false", True),
        ("1 == 1 and 1 != 2 and 1 <= 1 and not 1 < 1", True),
    ],
)
def test_exact_values(text: str, expected: object) -> None:
    assert value_of(text) == expected


@pytest.mark.parametrize(
    "text", ["1 / 0", "exp(1)", "log(2)", "rate_of(1)", "quantile(1, 0.5)", "tail(1, 2)", "1 / (2 - 2)"]
)
def test_what_leaves_the_rationals_says_so(text: str) -> None:
    with pytest.raises(NotExactError):
        value_of(text)


def test_exp_and_log_of_floats_have_values() -> None:
    assert evaluate(parse("log(exp(x))"), Now({"x": 2.0})) == pytest.approx(2.0)
    assert lower_numpy(parse("log(exp(x))"), {"x": np.array([1.0, 2.0])}) == pytest.approx([1.0, 2.0])


@pytest.mark.parametrize("text", ["delayed(x, 1 s)", "x > 1 for 3 s", "previous(x)", "mean_over(x, 3 s)", "exp(x)"])
def test_the_past_has_no_form_without_a_history(text: str) -> None:
    with pytest.raises(NotExactError):
        lower_smt(parse(text))
    if "exp" not in text:
        for lower in (lambda tree: lower_numpy(tree, {"x": 1.0}), lower_sympy):
            with pytest.raises(NotExactError):
                lower(parse(text))


def test_names_of_a_tree_in_order_of_first_use() -> None:
    assert names(parse("y + x * y > a.b")) == ("y", "x", "a.b")
    assert rename(parse("x + y"), {"x": "a.x", "y": "b.y"}.get) == parse("a.x + b.y")  # type: ignore[arg-type]
    assert rename(parse("x + 1"), lambda _: parse("y * 2")) == parse("y * 2 + 1")
    assert [is_boolean(parse(t)) for t in ("x > 1", "not x", "x > 1 for 2 s", "x", "x + 1")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert depth(parse("x + y * 2")) == 3


def test_every_function_of_the_language_is_known_to_the_parser_alone() -> None:
    for name, (least, _) in FUNCTIONS.items():
        call = parse(f"{name}({', '.join(['x'] * least)})")
        assert isinstance(call, Call)
        assert call.function == name


@settings(max_examples=few(100), deadline=None)
@given(numeric() | conditions())
def test_what_is_written_parses_to_the_same_tree(tree: Tree) -> None:
    assert parse(written(tree)) == tree


@settings(max_examples=100, deadline=None)
@given(scraps() | st.text(max_size=60) | st.text("x1. +-*/()<>=,% sofnt", max_size=40))
def test_any_text_is_a_tree_or_an_expression_error(text: str) -> None:
    assert all(0 <= low <= high <= len(text) + 1 for low, high in spans_of(text))


def spans_of(text: str) -> list[tuple[int, int]]:
    """Where the parts of the tree stand, or where the error is."""
    try:
        return [node.span for node in walk(parse(text))]
    except ExpressionError as error:
        return [error.span]


# -- four lowerings, one meaning ---------------------------------------------------------------


def exact(tree: Tree, values: Mapping[str, Fraction]) -> Any:
    """The exact value, or None where the tree has none (division by zero)."""
    try:
        return evaluate(tree, Now(values))
    except NotExactError:
        return None


@settings(max_examples=few(100), deadline=None)
@given(numeric(division=False) | conditions(division=False), st.lists(points(), min_size=1, max_size=4))
def test_numpy_agrees_exactly_on_batches_of_dyadic_numbers(tree: Tree, batch: list[dict[str, Fraction]]) -> None:
    arrays = {name: np.array([float(point[name]) for point in batch]) for name in NAMES}
    found = np.broadcast_to(lower_numpy(tree, arrays), (len(batch),))
    assert list(found) == [float(exact(tree, point)) for point in batch]


@settings(max_examples=60, deadline=None)
@given(numeric(), points())
def test_numpy_agrees_with_division_up_to_rounding(tree: Tree, point: dict[str, Fraction]) -> None:
    assume(not any(isinstance(node, Compare) for node in walk(tree)))
    assume(not any(isinstance(node, Call) and node.function in ("floor", "ceil") for node in walk(tree)))
    expected = exact(tree, point)
    assume(expected is not None)
    with np.errstate(all="ignore"):
        found = lower_numpy(tree, {name: float(v) for name, v in point.items()})
    size = max([1.0, *(abs(float(v)) for node in walk(tree) if (v := exact(node, point)) is not None)])
    assert math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12 * size * size)


@settings(max_examples=few(60), deadline=None)
@given(numeric() | conditions(), points())
def test_sympy_agrees_exactly(tree: Tree, point: dict[str, Fraction]) -> None:
    assume(all(exact(node, point) is not None for node in walk(tree)))
    values = {sympy.Symbol(name): sympy.Rational(v.numerator, v.denominator) for name, v in point.items()}
    found = lower_sympy(tree).subs(values)
    expected = exact(tree, point)
    if isinstance(expected, bool):
        assert bool(found) is expected
    else:
        assert Fraction(int(found.p), int(found.q)) == expected


@settings(max_examples=few(60), deadline=None)
@given(numeric() | conditions(), points())
def test_z3_agrees_exactly(tree: Tree, point: dict[str, Fraction]) -> None:
    expected = exact(tree, point)
    assume(all(exact(node, point) is not None for node in walk(tree)))
    defined = "".join(f"(define-fun {symbol(name)} () Real {real(value)})\n" for name, value in point.items())
    claim = str(expected).lower() if isinstance(expected, bool) else real(Fraction(expected))
    script = f"{defined}(assert (not (= {lower_smt(tree)} {claim})))\n(check-sat)\n"
    answer = solver.unsat(script, timeout_ms=5000)
    assert answer.unsat, f"{answer}\n{script}"


def test_the_solver_can_tell_a_wrong_value() -> None:
    script = f"(assert (not (= {lower_smt(parse('1 + 1'))} {real(3)})))\n(check-sat)\n"
    assert solver.unsat(script, timeout_ms=5000).outcome == "sat"


@given(st.fractions())
def test_rationals_are_written_for_the_solver_with_their_sign(value: Fraction) -> None:
    text = real(value)
    plain = text.replace("(- ", "").replace("(/ ", "").replace(")", "").split()
    found = Fraction(plain[0]) / (Fraction(plain[1]) if len(plain) > 1 else 1)
    assert found == abs(value)
    assert text.startswith("(- ") == (value < 0)


def test_units_do_not_reach_the_solver_they_are_si_already() -> None:
    assert lower_smt(parse("500 ms + 1 min")) == "(+ (/ 1.0 2.0) 60.0)"
    assert parse("500 ms") == Number(Fraction(1, 2), SECOND)
    assert parse("1") == Number(Fraction(1), ONE)


def test_the_hash_of_a_tree_is_computed_once_and_stays_behind_where_it_is_copied() -> None:
    tree = Compare(">", Name("a.b"), Arithmetic("+", Name("c"), Number(Fraction(1, 2))))
    copied = pickle.loads(pickle.dumps(tree))  # noqa: S301  (its own)
    assert hash(tree) == hash(tree) == hash(copied)
    assert not any(name.startswith(" ") for name in pickle.loads(pickle.dumps(tree)).__dict__)  # noqa: S301
    assert {tree: 1}[copied] == 1
