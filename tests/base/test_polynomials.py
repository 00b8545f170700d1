"""Exact root counts, characteristic and minimal polynomials."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bench.references.recurrences import companion
from coherence.base import sturm
from coherence.base.polynomials import (
    RootCount,
    all_within,
    characteristic_polynomial,
    count_roots,
    minimal_polynomial,
    radius_bracket,
)
from tests.draws import few

LEHMER = (1, 1, 0, -1, -1, -1, -1, -1, 0, 1, 1)
CYCLOTOMIC = {
    1: (1, -1),
    2: (1, 1),
    3: (1, 1, 1),
    4: (1, 0, 1),
    5: (1, 1, 1, 1, 1),
    6: (1, -1, 1),
    8: (1, 0, 0, 0, 1),
    9: (1, 0, 0, 1, 0, 0, 1),
    12: (1, 0, -1, 0, 1),
}
TRIPLES = [(3, 5), (4, 5), (5, 13), (12, 13), (8, 17), (20, 29), (99, 101), (-7, 25), (-21, 29), (-119, 120 + 49)]

Coefficients = tuple[Fraction, ...]


def product(*factors: Sequence[Fraction | int]) -> Coefficients:
    result = [Fraction(1)]
    for factor in factors:
        longer = [Fraction(0)] * (len(result) + len(factor) - 1)
        for i, a in enumerate(result):
            for j, b in enumerate(factor, i):
                longer[j] += a * b
        result = longer
    return tuple(result)


def block_diagonal(*blocks: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
    size = sum(map(len, blocks))
    rows, before = [], 0
    for block in blocks:
        rows += [[Fraction(0)] * before + list(row) + [Fraction(0)] * (size - before - len(row)) for row in block]
        before += len(block)
    return rows


def times(a: Sequence[Sequence[Fraction]], b: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
    return [
        [sum((x * y for x, y in zip(row, column, strict=True)), Fraction(0)) for column in zip(*b, strict=True)]
        for row in a
    ]


def at_matrix(coefficients: Sequence[Fraction], matrix: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
    n = len(matrix)
    result = [[Fraction(0)] * n for _ in range(n)]
    for c in coefficients:
        result = times(result, matrix)
        for i in range(n):
            result[i][i] += c
    return result


def delay_line(steps: int, dense: int, *, seed: int) -> list[list[Fraction]]:
    """A few dense states that see each other and the end of a delay line that the last of them feeds."""
    n = steps + dense
    rows = [[Fraction(0)] * n for _ in range(n)]
    for i in range(dense):
        for j in (*range(dense), n - 1):
            rows[i][j] = Fraction((seed + 7919 * i + 104729 * j * j) % 1001 - 500, 1000)
    for i in range(dense, n):
        rows[i][i - 1] = Fraction(1)
    return rows


# root counts: examples


@pytest.mark.parametrize(
    ("coefficients", "expected"),
    [
        ((7,), RootCount(0, 0, 0, False)),
        ((1, 0), RootCount(1, 0, 0, False)),
        ((1, 0, 0, 0), RootCount(3, 0, 0, False)),
        ((1, -1), RootCount(0, 1, 0, False)),
        ((-3, -3), RootCount(0, 1, 0, False)),
        ((1, -2, 1), RootCount(0, 2, 0, True)),
        ((1, 0, -1), RootCount(0, 2, 0, False)),
        ((1, -1, 1), RootCount(0, 2, 0, False)),
        ((1, 0, 2, 0, 1), RootCount(0, 4, 0, True)),
        ((2, -5, 2), RootCount(1, 0, 1, False)),
        ((4, -20, 33, -20, 4), RootCount(2, 0, 2, False)),
        ((0, 0, 2, -1), RootCount(1, 0, 0, False)),
        ((Fraction(1, 2), Fraction(-1, 3)), RootCount(1, 0, 0, False)),
        ((1, -1, 0, 1), RootCount(1, 0, 2, False)),
        (LEHMER, RootCount(1, 8, 1, False)),
        (product(LEHMER, LEHMER), RootCount(2, 16, 2, True)),
        (product(LEHMER, (1, 0, 0), (1, -1)), RootCount(3, 9, 1, False)),
        ((1, *[0] * 59, -1), RootCount(0, 60, 0, False)),
    ],
)
def test_counts_of_known_polynomials(coefficients: Sequence[Fraction | int], expected: RootCount) -> None:
    assert count_roots(coefficients) == expected


@pytest.mark.parametrize("coefficients", [(), (0,), (Fraction(0), 0, 0)])
def test_the_zero_polynomial_is_refused(coefficients: Sequence[Fraction | int]) -> None:
    with pytest.raises(ValueError, match="zero polynomial"):
        count_roots(coefficients)


@pytest.mark.parametrize("places", [10, 50, 63, 100, 400])
@pytest.mark.parametrize("sign", [1, -1])
def test_roots_that_no_float_tells_from_the_circle(places: int, sign: int) -> None:
    close = 1 - Fraction(sign, 2**places)
    expected = RootCount(3, 2, 1, False) if sign > 0 else RootCount(1, 2, 3, False)
    assert count_roots(product((1, 0, close**2), (1, -1, 1), (1, Fraction(-1, 2)), (1, -3))) == expected


def test_the_index_decides_where_squaring_gives_up() -> None:
    size = Fraction(2**200 - 1, 2**200)
    p = sturm.primitive(product((1, -size, size**2), (1, -5)))
    assert sturm.inside_by_squaring(p) is None
    assert sturm.inside_by_index(p) == 2
    assert count_roots(p) == RootCount(2, 0, 1, False)


# root counts: laws

small = st.fractions(min_value=-3, max_value=3, max_denominator=12)
linear = small.map(lambda r: (Fraction(1), -r))
conjugates = st.tuples(small, small.filter(bool)).map(lambda z: (Fraction(1), -2 * z[0], z[0] ** 2 + z[1] ** 2))
rotations = st.sampled_from([(Fraction(1), Fraction(-2 * a, c), Fraction(1)) for a, c in TRIPLES])
cyclotomics = st.sampled_from([tuple(map(Fraction, c)) for c in CYCLOTOMIC.values()])
irreducible = st.one_of(linear, conjugates, rotations, cyclotomics)
factored = st.dictionaries(irreducible, st.integers(1, 3), min_size=1, max_size=4)


def counted_by_hand(factor: Coefficients) -> RootCount:
    """An irreducible factor of the strategies: its roots all have the modulus |last / first|^(1 / degree)."""
    degree, size = len(factor) - 1, abs(factor[-1])
    return RootCount(degree * (size < 1), degree * (size == 1), degree * (size > 1), False)


@given(factored, small.filter(bool))
@settings(max_examples=few(100), deadline=None)
def test_every_root_of_a_known_product_is_counted(factors: dict[Coefficients, int], scale: Fraction) -> None:
    by_hand = [(counted_by_hand(factor), m) for factor, m in factors.items()]
    expected = RootCount(
        sum(c.inside * m for c, m in by_hand),
        sum(c.on * m for c, m in by_hand),
        sum(c.outside * m for c, m in by_hand),
        any(c.on and m > 1 for c, m in by_hand),
    )
    p = product((scale,), *(factor for factor, m in factors.items() for _ in range(m)))
    assert count_roots(p) == expected
    assert expected.degree == len(p) - 1


@given(factored)
@settings(max_examples=50, deadline=None)
def test_reversing_the_coefficients_swaps_inside_and_outside(factors: dict[Coefficients, int]) -> None:
    p = product(*(factor for factor, m in factors.items() for _ in range(m)))
    assume(p[-1] != 0)
    here, there = count_roots(p), count_roots(p[::-1])
    assert (here.inside, here.on, here.outside) == (there.outside, there.on, there.inside)


@given(st.lists(st.integers(-20, 20), min_size=2, max_size=25))
@settings(max_examples=100, deadline=None)
def test_counts_agree_with_numpy_away_from_the_circle(coefficients: list[int]) -> None:
    assume(coefficients[0] != 0)
    sizes = np.abs(np.roots(coefficients))
    assume(bool(np.all(np.abs(sizes - 1) > 1e-3)))
    counts = count_roots(coefficients)
    assert (counts.inside, counts.on) == (int(np.sum(sizes < 1)), 0)


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=14))
@settings(max_examples=100, deadline=None)
def test_the_two_exact_methods_agree(coefficients: list[int]) -> None:
    assume(coefficients[0] != 0 and coefficients[-1] != 0)
    p = sturm.primitive(coefficients)
    rest = sturm.divided(p, sturm.gcd(p, p[::-1]))
    assert sturm.inside_by_squaring(rest) == sturm.inside_by_index(rest)


@given(
    st.lists(small, min_size=1, max_size=5), st.fractions(min_value=Fraction(1, 10), max_value=4, max_denominator=30)
)
@settings(max_examples=few(60), deadline=None)
def test_all_within_a_radius_is_exact(roots: list[Fraction], radius: Fraction) -> None:
    p = product(*((1, -r) for r in roots))
    largest = max(map(abs, roots))
    assert all_within(p, radius) == (largest < radius)
    if largest:
        assert not all_within(p, largest)
        assert all_within(p, largest * (1 + Fraction(1, 10**30)))


@given(st.lists(small.filter(bool), min_size=1, max_size=5))
@settings(max_examples=few(50), deadline=None)
def test_a_bracket_holds_the_largest_modulus(roots: list[Fraction]) -> None:
    largest = max(map(abs, roots))
    low, high = radius_bracket(sturm.primitive(product(*((1, -r) for r in roots))), Fraction(1, 1000))
    assert low == high == 1 if largest == 1 else low <= largest < high and high - low <= high / 1000


# integer polynomials


@pytest.mark.parametrize("exponent", [e for e in sturm.MERSENNE if e < 5000])
def test_the_moduli_are_prime(exponent: int) -> None:
    modulus, term = (1 << exponent) - 1, 4
    for _ in range(exponent - 2):
        term = (term * term - 2) % modulus
    assert term == 0, "Lucas-Lehmer"


polynomials = st.lists(st.integers(-9, 9), min_size=1, max_size=6).map(sturm.primitive).filter(bool)


@given(polynomials, polynomials, polynomials)
@settings(max_examples=few(100), deadline=None)
def test_gcd_agrees_with_sympy(a: list[int], b: list[int], c: list[int]) -> None:
    left, right = (sturm.primitive(product(x, c)) for x in (a, b))
    z = sympy.Symbol("z")
    expected = sympy.gcd(sympy.Poly(left, z), sympy.Poly(right, z)).all_coeffs()
    assert sturm.gcd(left, right) == sturm.primitive(Fraction(int(x)) for x in expected)
    assert sturm.quotient(left, sturm.gcd(left, right)) is not None


def test_gcd_of_large_coefficients_needs_a_larger_prime() -> None:
    common = [3**200, 7, -(5**150)]
    left, right = (sturm.primitive(product(common, x)) for x in ([1, 2], [1, 0, 5]))
    assert sturm.gcd(left, right) == common


def test_gcd_skips_a_prime_that_divides_the_leading_coefficients() -> None:
    common = [2**61 - 1, 1]
    assert sturm.gcd(*(sturm.primitive(product(common, x)) for x in ([1, 2], [1, 3]))) == common


@given(polynomials, polynomials)
@settings(max_examples=60, deadline=None)
def test_square_free_factors_multiply_back(a: list[int], b: list[int]) -> None:
    p = sturm.primitive(product(a, b, b, b))
    factors = sturm.square_free(p)
    whole = sturm.primitive(product(*(f for i, f in enumerate(factors, 1) for _ in range(i))))
    assert whole in (p, [-c for c in p])
    assert all(sturm.gcd(f, sturm.derivative(f)) == [1] for f in factors)


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=6), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_sturm_counts_distinct_real_roots(roots: list[int], complex_pairs: int) -> None:
    p = sturm.primitive(product(*((1, -r) for r in roots), *((1, 1, k + 2) for k in range(complex_pairs))))
    assume(-3 not in roots and roots.count(4) < 2)
    assert sturm.real_roots(p, -3, 4) == len({r for r in roots if -3 < r <= 4})


# characteristic polynomials

entries = st.fractions(min_value=-4, max_value=4, max_denominator=9) | st.just(Fraction(0))
matrices = st.integers(1, 6).flatmap(
    lambda n: st.lists(st.lists(entries, min_size=n, max_size=n), min_size=n, max_size=n)
)


@pytest.mark.slow
@given(matrices)
@settings(max_examples=few(60), deadline=None)
def test_characteristic_polynomial_agrees_with_sympy(matrix: list[list[Fraction]]) -> None:
    expected = sympy.Matrix([[sympy.Rational(a.numerator, a.denominator) for a in row] for row in matrix]).charpoly()
    assert characteristic_polynomial(matrix) == tuple(Fraction(int(c.p), int(c.q)) for c in expected.all_coeffs())


@pytest.mark.slow
@given(matrices)
@settings(max_examples=60, deadline=None)
def test_a_matrix_satisfies_its_characteristic_and_minimal_polynomials(matrix: list[list[Fraction]]) -> None:
    whole, least = characteristic_polynomial(matrix), minimal_polynomial(matrix)
    assert not any(map(any, at_matrix(whole, matrix)))
    assert not any(map(any, at_matrix(least, matrix)))
    assert sturm.quotient(sturm.primitive(whole), sturm.primitive(least)) is not None
    assert sturm.square_free_part(sturm.primitive(whole)) == sturm.square_free_part(sturm.primitive(least))


def test_no_states_and_a_single_state() -> None:
    assert characteristic_polynomial([]) == minimal_polynomial([]) == (Fraction(1),)
    assert characteristic_polynomial([[Fraction(2, 3)]]) == (Fraction(1), Fraction(-2, 3))


@pytest.mark.parametrize(
    "matrix",
    [[[Fraction(1), Fraction(2)]], [[Fraction(1)], [Fraction(2)]], [[Fraction(1), Fraction(2)], [Fraction(3)]]],
)
def test_a_matrix_that_is_not_square_is_refused(matrix: list[list[Fraction]]) -> None:
    for function in (characteristic_polynomial, minimal_polynomial):
        with pytest.raises(ValueError, match="not square"):
            function(matrix)


@given(st.lists(small, min_size=1, max_size=8))
@settings(max_examples=40, deadline=None)
def test_a_companion_matrix_gives_its_polynomial_back(tail: list[Fraction]) -> None:
    polynomial = (Fraction(1), *tail)
    assert characteristic_polynomial(companion(polynomial)) == minimal_polynomial(companion(polynomial)) == polynomial


def test_large_and_fine_entries_stay_exact() -> None:
    a, b, c, d = Fraction(10**40, 3), Fraction(1, 7**60), Fraction(-(10**50)), Fraction(5, 11**30)
    expected = (Fraction(1), -(a + d), a * d - b * c)
    assert characteristic_polynomial([[a, b], [c, d]]) == minimal_polynomial([[a, b], [c, d]]) == expected
    apart = block_diagonal([[a, b], [c, d]], [[a, b], [c, d]])
    assert minimal_polynomial(apart) == expected


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("steps", [60, 97])
def test_long_delay_lines_are_fast(steps: int, reverse: bool) -> None:
    matrix = delay_line(steps, 3, seed=steps)
    if reverse:
        matrix = [row[::-1] for row in matrix[::-1]]
    begin = time.process_time()
    polynomial = characteristic_polynomial(matrix)
    assert time.process_time() - begin < 1
    scaled = math.prod(1 - z for z in np.linalg.eigvals(np.array(matrix, dtype=float)))
    assert float(sum(polynomial)) == pytest.approx(scaled.real, rel=1e-9)
    assert count_roots(polynomial).degree == steps + 3


# minimal polynomials

HPA = (Fraction(1), Fraction(-1), Fraction(1))


def test_two_equal_marginal_loops_do_not_resonate() -> None:
    twice = block_diagonal(companion(HPA), companion(HPA))
    assert count_roots(characteristic_polynomial(twice)).repeated_on
    assert minimal_polynomial(twice) == HPA


def test_a_marginal_loop_that_drives_an_equal_one_resonates() -> None:
    driven = block_diagonal(companion(HPA), companion(HPA))
    driven[2][0] = Fraction(1, 10)
    assert minimal_polynomial(driven) == product(HPA, HPA)


@given(
    st.lists(
        st.sampled_from([HPA, (Fraction(1), Fraction(-1, 2)), (Fraction(1), Fraction(0)), (Fraction(1), Fraction(-1))]),
        min_size=1,
        max_size=4,
    )
)
@settings(max_examples=40, deadline=None)
def test_blocks_apart_have_the_least_common_multiple(factors: list[Coefficients]) -> None:
    blocks = [companion(f) for f in factors] + [companion(product(factors[0], factors[0]))]
    others = [f for f in dict.fromkeys(factors) if f != factors[0]]
    assert minimal_polynomial(block_diagonal(*blocks)) == product(factors[0], factors[0], *others)
