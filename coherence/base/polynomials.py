"""Characteristic and minimal polynomials of rational matrices, with exact root counts on the unit circle.

Public polynomials are tuples of `Fraction`, highest degree first.  Nothing here is floating point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base import sturm
from coherence.base.errors import InternalError
from coherence.base.sturm import Poly

Matrix = Sequence[Sequence[Fraction]]
Row = list[tuple[int, int]]  # the non-zero entries of a row, as (column, residue)


@dataclass(frozen=True)
class RootCount:
    """Roots inside, on and outside the unit circle, counted with multiplicity.

    `repeated_on`: some root on the circle has multiplicity above 1.  For the recurrence with this
    polynomial (and for its companion matrix) that means polynomial growth.  For another matrix the
    characteristic polynomial only says that it may grow: count the roots of `minimal_polynomial`.
    """

    inside: int
    on: int
    outside: int
    repeated_on: bool

    @property
    def degree(self) -> int:
        return self.inside + self.on + self.outside


def count_roots(coefficients: Sequence[Fraction | int]) -> RootCount:
    """Counts the roots of a polynomial (highest degree first) inside, on and outside the unit circle, exactly.

    g = gcd(p, z^n p(1/z)) holds all roots on the circle and all pairs (r, 1/r); p/g holds the rest,
    none of which lies on the circle.  Raises ValueError for the zero polynomial.
    """
    p = sturm.primitive(coefficients)
    if not p:
        raise ValueError("every number is a root of the zero polynomial")
    zeros = next(i for i, c in enumerate(reversed(p)) if c)
    p = p[: len(p) - zeros]
    paired = sturm.gcd(p, p[::-1])
    rest = sturm.divided(p, paired)
    inside = inside_of(rest)
    on, repeated = _on_circle(paired)
    pairs = (len(paired) - 1 - on) // 2
    return RootCount(zeros + inside + pairs, on, len(rest) - 1 - inside + pairs, repeated)


def inside_of(p: Poly) -> int:
    """Roots inside the circle of a polynomial that has none on it and no pair (r, 1/r)."""
    quick = sturm.inside_by_squaring(p)
    return sturm.inside_by_index(p) if quick is None else quick


def _on_circle(paired: Poly) -> tuple[int, bool]:
    """Returns (roots on the circle with multiplicity, is one repeated) of a p with p(z) = +-z^n p(1/z)."""
    counts = [_simple_on_circle(factor) for factor in sturm.square_free(paired)]
    return sum(i * on for i, on in enumerate(counts, 1)), any(counts[1:])


def _simple_on_circle(p: Poly) -> int:
    """Returns `_on_circle` for square-free p: takes out 1 and -1, then counts w = z + 1/z in (-2, 2)."""
    ends = 0
    for end in (1, -1):
        if sturm.value(p, end) == 0:
            p, ends = sturm.divided(p, [1, -end]), ends + 1
    return ends + 2 * sturm.real_roots(_in_sum(p), -2, 2) if len(p) > 1 else ends


def _in_sum(p: Poly) -> Poly:
    """Returns H with p(z) = z^m H(z + 1/z), for p of degree 2m with p(z) = z^2m p(1/z).

    z^k + z^-k = t_k(w), with t_0 = 2, t_1 = w and t_k+1 = w t_k - t_k-1.
    """
    if p != p[::-1] or len(p) % 2 == 0:
        raise InternalError("the factor is not self-reciprocal")
    middle = len(p) // 2
    result = [0] * middle + [p[middle]]
    before, now = [2], [1, 0]
    for k in range(1, middle + 1):
        for i, c in enumerate(reversed(now), 1):
            result[-i] += p[middle - k] * c
        before, now = now, [a - b for a, b in zip([*now, 0], [0, 0, *before], strict=True)]
    return result


def distinct_non_zero(polynomial: Sequence[Fraction | int]) -> Poly:
    """Returns the square-free polynomial with the non-zero roots."""
    p = sturm.square_free_part(sturm.primitive(polynomial))
    return p[:-1] if len(p) > 1 and p[-1] == 0 else p


def all_within(polynomial: Sequence[Fraction | int], radius: Fraction) -> bool:
    """Returns whether every root has a modulus smaller than radius (> 0); exact."""
    counts = count_roots([c * radius**-k for k, c in enumerate(polynomial)])
    return counts.on == counts.outside == 0


def radius_bracket(p: Poly, tolerance: Fraction, *probes: Fraction) -> tuple[Fraction, Fraction]:
    """Returns low <= largest modulus < high, at most tolerance * high apart; (1, 1) where it is 1."""
    counts = count_roots(p)
    if counts.outside == 0 and counts.on:
        return Fraction(1), Fraction(1)
    # all |roots| < 2^(bound + 1), with 2^bound >= |c_k / c_0|^(1/k) for all k (Fujiwara 1916)
    bound = max(-((p[0].bit_length() - c.bit_length() - 1) // k) for k, c in enumerate(p) if k and c)
    ceiling = Fraction(2) ** (bound + 1)
    low, high = (Fraction(1), ceiling) if counts.outside else (Fraction(0), min(Fraction(1), ceiling))
    for probe in probes:
        low, high = narrowed(p, low, high, probe)
    while high - low > tolerance * high:
        low, high = narrowed(p, low, high, (low + high) / 2)
    return low, high


def narrowed(p: Poly, low: Fraction, high: Fraction, probe: Fraction) -> tuple[Fraction, Fraction]:
    """Returns the part of the bracket [low, high) on the side of the probe where the largest modulus lies."""
    if not low < probe < high:
        return low, high
    return (low, probe) if all_within(p, probe) else (probe, high)


def characteristic_polynomial(matrix: Matrix) -> tuple[Fraction, ...]:
    """Returns det(zI - A), monic.

    With d_i the common denominator of row i, the product of all d_i times the result is an integer
    polynomial with coefficients of at most prod(d_i + |d_i row_i|_1).  It is found by Hessenberg
    reduction modulo one prime larger than twice that, hence exactly and without coefficient growth.
    SOURCE: Cohen, A Course in Computational Algebraic Number Theory, algorithm 2.2.9.
    Raises ValueError if the matrix is not square.
    """
    rows = _checked(matrix)
    scales = [math.lcm(*(a.denominator for a in row)) for row in rows]
    scale = math.prod(scales)
    bound = math.prod(int(d * (1 + sum(map(abs, row)))) for d, row in zip(scales, rows, strict=True))
    prime = next(sturm.mersenne_primes(2 * bound), None)
    if prime is None:
        raise ValueError("the coefficients of the matrix have more than a million bits together")
    image = _hessenberg_polynomial(_hessenberg(_residues(rows, prime), prime), prime)
    return tuple(Fraction(sturm.centred(scale * c, prime), scale) for c in image)


def _checked(matrix: Matrix) -> list[list[Fraction]]:
    rows = [[Fraction(a) for a in row] for row in matrix]
    if any(len(row) != len(rows) for row in rows):
        raise ValueError(f"the matrix is not square: {len(rows)} rows of {sorted({len(row) for row in rows})}")
    return rows


def _residues(rows: Sequence[Sequence[Fraction]], prime: int) -> list[list[int]]:
    inverses = {d: pow(d, -1, prime) for d in {a.denominator for row in rows for a in row}}
    return [[a.numerator * inverses[a.denominator] % prime for a in row] for row in rows]


def _hessenberg(h: list[list[int]], prime: int) -> list[list[int]]:
    """Returns a similar matrix (modulo prime) that is zero below the first subdiagonal; h is overwritten."""
    n = len(h)
    for k in range(n - 2):
        pivot = next((i for i in range(k + 1, n) if h[i][k]), None)
        if pivot is None:
            continue
        _swap(h, pivot, k + 1)
        inverse = pow(h[k + 1][k], -1, prime)
        for i in range(k + 2, n):
            if h[i][k]:
                _eliminate(h, i, k + 1, h[i][k] * inverse % prime, prime)
    return h


def _swap(h: list[list[int]], i: int, j: int) -> None:
    h[i], h[j] = h[j], h[i]
    for row in h:
        row[i], row[j] = row[j], row[i]


def _eliminate(h: list[list[int]], i: int, j: int, factor: int, prime: int) -> None:
    """Subtracts factor times row j from row i; then, to keep the eigenvalues, adds factor times column i to j."""
    row = h[i]
    for column, a in enumerate(h[j]):
        if a:
            row[column] = (row[column] - factor * a) % prime
    for other in h:
        if other[i]:
            other[j] = (other[j] + factor * other[i]) % prime


def _hessenberg_polynomial(h: list[list[int]], prime: int) -> Poly:
    """Returns det(zI - H) modulo prime, by p_k = (z - h_kk) p_k-1 - sum h_ik (subdiagonal product) p_i-1."""
    leading: list[Poly] = [[1]]
    for k in range(len(h)):
        new = [a - h[k][k] * b for a, b in zip([*leading[k], 0], [0, *leading[k]], strict=True)]
        product = 1
        for i in range(k - 1, -1, -1):
            product = product * h[i + 1][i] % prime
            if product == 0:
                break
            if factor := h[i][k] * product % prime:
                for offset, c in enumerate(leading[i], k + 1 - i):
                    new[offset] -= factor * c
        leading.append([c % prime for c in new])
    return leading[-1]


def minimal_polynomial(matrix: Matrix) -> tuple[Fraction, ...]:
    """Returns the monic polynomial m of least degree with m(A) = 0.

    Found modulo a prime P.  Its image never has a larger degree than m.  Lifted with the leading
    coefficient of the primitive characteristic polynomial, and with coefficients below Mignotte's
    bound, the entries of its value at A, cleared of denominators, are smaller than P and vanish
    modulo P: they are 0, so the lifted polynomial annihilates A and is m.  Otherwise P was unlucky
    and the next is taken.  Raises ValueError if the matrix is not square.
    """
    rows = _checked(matrix)
    whole = sturm.primitive(characteristic_polynomial(rows))
    n, lead = len(rows), whole[0]
    largest = lead * (sum(map(abs, whole)) << n)
    scale = math.lcm(*(a.denominator for row in rows for a in row))
    size = max((int(scale * sum(map(abs, row))) for row in rows), default=0)
    for prime in sturm.mersenne_primes(2 * (n + 1) * largest * max(scale, size, 1) ** n):
        image = _minimal_modulo(_residues(rows, prime), prime)
        lifted = [sturm.centred(lead * c, prime) for c in image]
        if max(map(abs, lifted)) <= largest:
            return tuple(Fraction(c, lead) for c in lifted)
    raise ValueError("the coefficients of the matrix have more than a million bits together")


def _minimal_modulo(matrix: list[list[int]], prime: int) -> Poly:
    """Returns the minimal polynomial modulo prime: the unit vectors not yet annihilated add their own factors."""
    rows: list[Row] = [[(j, a) for j, a in enumerate(row) if a] for row in matrix]

    def apply(vector: list[int]) -> list[int]:
        return [sum(a * vector[j] for j, a in row) % prime for row in rows]

    result = [1]
    for i in range(len(rows)):
        vector = [0] * len(rows)
        for c in result:
            vector = apply(vector)
            vector[i] = (vector[i] + c) % prime
        if any(vector):
            result = _product(_annihilator(apply, vector, prime), result, prime)
    return result


def _annihilator(apply: Callable[[list[int]], list[int]], vector: list[int], prime: int) -> Poly:
    """Returns the monic m of least degree with m(A) v = 0, by elimination among v, Av, A^2 v, ..."""
    basis: list[tuple[int, list[int], list[int]]] = []  # (pivot, reduced vector, its combination of A^k v)
    while True:
        rest, combination = list(vector), [0] * len(basis) + [1]
        for pivot, reduced, parts in basis:
            if factor := rest[pivot]:
                rest = [(a - factor * b) % prime for a, b in zip(rest, reduced, strict=True)]
                for i, part in enumerate(parts):
                    combination[i] = (combination[i] - factor * part) % prime
        pivot = next((i for i, a in enumerate(rest) if a), -1)
        if pivot < 0:
            return combination[::-1]
        inverse = pow(rest[pivot], -1, prime)
        basis.append((pivot, [a * inverse % prime for a in rest], [c * inverse % prime for c in combination]))
        vector = apply(vector)


def _product(a: Poly, b: Poly, prime: int) -> Poly:
    result = [0] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b, i):
            result[j] = (result[j] + x * y) % prime
    return result
