"""Sampled loops x[k+1] = A x[k]: an exact verdict, and the dominant root to full double precision.

Everything that is decided is decided by exact root counts.  The dominant root is looked for along the
circle that such counts confine it to, polished in fixed point, and confirmed by one more count.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.errors import InternalError
from coherence.base.polynomials import (
    Matrix,
    RootCount,
    all_within,
    characteristic_polynomial,
    count_roots,
    distinct_non_zero,
    minimal_polynomial,
    radius_bracket,
)
from coherence.base.sturm import Poly

TIE = Fraction(1, 10**12)  # relative difference of modulus below which roots count as equally dominant
CONFIRMED = Fraction(1, 10**9)  # no root is larger than the reported one by more than this, relatively
CIRCLE = Fraction(1, 100)  # relative width of the ring that the search for the dominant root starts from
SETTLED = 80  # binary places to which a polished root is proved to be one
ROUNDS = 100  # of Newton's method
LEVELS = 4  # of the search: each is four times as dense, and more precise

Point = tuple[int, int]  # a complex number in fixed point: real and imaginary part times 2^bits


@dataclass(frozen=True)
class Root:
    """A root modulus * exp(+-i angle), angle in [0, pi]; the modulus is good to about 25 digits."""

    modulus: Fraction
    angle: float


@dataclass(frozen=True)
class SampledVerdict:
    """What x[k+1] = A x[k] does from every start.

    `stable`: True if every run decays to 0, False if some run grows without bound, None if neither:
    `marginal`, bounded without decay, where a linearisation decides nothing about the true law.
    `unstable` is `stable is False`; it includes repeated roots on the circle that let a run grow like
    a power of k.  `counts` are those of the characteristic polynomial.
    `modulus` (growth per step) and `angle` (radians per step, 0 to pi) are those of the dominant root;
    of equally large ones the slowest oscillation is taken.  `period` in steps is 2 pi / angle, None
    without oscillation.  `dead_beat`: the number of steps after which every run is exactly 0, or None.
    """

    stable: bool | None
    marginal: bool
    unstable: bool
    counts: RootCount
    modulus: float
    angle: float
    period: float | None
    dead_beat: int | None = None


def verdict(matrix: Matrix) -> SampledVerdict:
    """Returns the verdict on x[k+1] = A x[k] for a square rational A; every entry is taken as exact.

    Raises ValueError if the matrix is not square.
    """
    polynomial = characteristic_polynomial(matrix)
    counts, grows = _counted(matrix, polynomial)
    dead_beat = None if any(polynomial[1:]) else len(minimal_polynomial(matrix)) - 1
    return _verdict(polynomial, counts, grows=grows, dead_beat=dead_beat)


def stability(matrix: Matrix) -> tuple[bool | None, RootCount]:
    """Returns `stable` and `counts` of `verdict`, without the search for the dominant root, which is most of its time.

    Raises ValueError if the matrix is not square.
    """
    counts, grows = _counted(matrix, characteristic_polynomial(matrix))
    return _stable(counts, grows), counts


def _counted(matrix: Matrix, polynomial: Sequence[Fraction]) -> tuple[RootCount, bool]:
    """Returns the roots of the characteristic polynomial, and whether some run grows without bound."""
    counts = count_roots(polynomial)
    return counts, counts.outside > 0 or (counts.repeated_on and count_roots(minimal_polynomial(matrix)).repeated_on)


def _stable(counts: RootCount, grows: bool) -> bool | None:
    return False if grows else None if counts.on else True


def _verdict(
    polynomial: Sequence[Fraction | int], counts: RootCount, *, grows: bool, dead_beat: int | None
) -> SampledVerdict:
    root, stable = dominant_root(polynomial), _stable(counts, grows)
    return SampledVerdict(
        stable=stable,
        marginal=stable is None,
        unstable=grows,
        counts=counts,
        modulus=1.0 if counts.on and not counts.outside else _as_float(root.modulus),
        angle=root.angle,
        period=math.tau / root.angle if root.angle else None,
        dead_beat=dead_beat,
    )


def _as_float(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf


def dominant_root(polynomial: Sequence[Fraction | int]) -> Root:
    """Returns the root of largest modulus, with non-negative imaginary part; 0 where there is no other root.

    Of roots within `TIE` of the largest modulus it is the one with the smallest positive angle.  An
    exact count confirms that no root is larger by more than `CONFIRMED`.
    """
    p = distinct_non_zero(polynomial)
    if len(p) == 1:
        return Root(Fraction(0), 0.0)
    _, radius = radius_bracket(p, CIRCLE)
    for level in range(LEVELS):
        search, known = _search(p, radius, level), list[Point]()
        while new := _reached(search, known):
            known += new
            roots = [_root(z, search) for z in known]
            largest = max(root.modulus for root in roots)
            if largest and all_within(p, largest * (1 + CONFIRMED)):
                tied = [root for root in roots if root.modulus >= largest * (1 - TIE)]
                return min(tied, key=lambda root: root.angle or math.inf)
    raise InternalError(f"the dominant root of a polynomial of degree {len(p) - 1} was not found")


@dataclass(frozen=True)
class _Search:
    """A monic polynomial in fixed point with all roots in |y| <= 1, where z = 2^exponent y, and where to start."""

    coefficients: Poly
    exponent: int
    bits: int
    circle: tuple[Point, ...]
    ends: tuple[Point, Point]


def _search(p: Poly, radius: Fraction, level: int) -> _Search:
    """Searches for roots of p along the upper half of a circle, outside of which there are none."""
    n = len(p) - 1
    exponent = radius.numerator.bit_length() - radius.denominator.bit_length() + 1
    bits = (2 * SETTLED + 2 * n) << level
    fixed = [round(Fraction(c, p[0]) * Fraction(2) ** (bits - exponent * k)) for k, c in enumerate(p)]
    size, count = float(radius / Fraction(2) ** exponent), 4 * (n + 1) << 2 * level
    circle = tuple(_fixed(cmath.rect(size, math.pi * (k + 0.5) / count), bits) for k in range(count))
    return _Search(fixed, exponent, bits, circle, (_fixed(size, bits), _fixed(-size, bits)))


def _reached(search: _Search, known: list[Point]) -> list[Point]:
    """Returns roots that Newton's method reaches, repelled by the known ones and their conjugates (Maehly 1954).

    It starts where its first step is not longer than at both neighbours on the circle, and from the
    circle's real points: from there it cannot overshoot a real root that no other exceeds in size,
    since its steps are 1 / (sum of 1 / (x - root)), and all terms have real parts of the sign of x.
    """
    avoided = [(x, s * y) for x, y in known for s in (1, -1) if s == 1 or abs(y) >> (search.bits - SETTLED)]
    steps = [_step(search, z, avoided) for z in search.circle]
    lengths = [x * x + y * y for x, y in steps]
    lowest = (min(lengths[max(k - 1, 0) : k + 2]) for k in range(len(lengths)))
    starts = [z for z, length, least in zip(search.circle, lengths, lowest, strict=True) if length == least]
    reached: dict[Point, Point] = {}
    for start in (*starts, *search.ends):
        z = _polished(search, start, avoided)
        if _near_root(search, z):
            reached.setdefault(_rough(z, search.bits), z)
    old = {_rough(z, search.bits) for z in known}
    return [z for rough, z in reached.items() if rough not in old]


def _rough(z: Point, bits: int) -> Point:
    """Returns one name for a root and its conjugate, whatever the last digits."""
    shift = bits - SETTLED + 8
    half = 1 << (shift - 1)
    return (z[0] + half) >> shift, (abs(z[1]) + half) >> shift


def _fixed(z: complex, bits: int) -> Point:
    return round(Fraction(z.real) * 2**bits), round(Fraction(z.imag) * 2**bits)


def _polished(search: _Search, z: Point, avoided: Sequence[Point]) -> Point:
    for _ in range(ROUNDS):
        x, y = _step(search, z, avoided)
        z = z[0] - x, z[1] - y
        if max(abs(x), abs(y)) >> (search.bits - SETTLED) == 0 or max(map(abs, z)) >> (search.bits + 2):
            break
    return z


def _root(point: Point, search: _Search) -> Root:
    (x, y), one = point, 1 << search.bits
    modulus = Fraction(math.isqrt(x * x + y * y)) * Fraction(2) ** (search.exponent - search.bits)
    real = abs(y) >> (search.bits - SETTLED) == 0
    return Root(modulus, math.atan2(0 if real else abs(y) / one, x / one))


def _near_root(search: _Search, z: Point) -> bool:
    """Decides whether some root lies within 2^-SETTLED of z:
    the disc of radius n |f/f'| holds one, rounding included.
    """
    n = len(search.coefficients) - 1
    (a, b), (c, d) = _evaluated(search, z)
    noise = 8 * (n + 1) ** 2  # of Horner's rule for |z| <= 1, in units of 2^-bits
    distance, steepness = math.isqrt(a * a + b * b) + 1 + noise, math.isqrt(c * c + d * d) - noise
    within = z[0] ** 2 + z[1] ** 2 <= (1 << 2 * search.bits) + (1 << (2 * search.bits - SETTLED // 2))
    return within and (n * distance) << SETTLED < steepness


def _step(search: _Search, z: Point, avoided: Sequence[Point]) -> Point:
    """Returns f / (f' - f * sum of 1 / (z - avoided)); 0 where that is not finite."""
    bits = search.bits
    f, (c, d) = _evaluated(search, z)
    for x, y in avoided:
        push = _over(f, (z[0] - x, z[1] - y), bits)
        c, d = c - push[0], d - push[1]
    return _over(f, (c, d), bits)


def _over(a: Point, b: Point, bits: int) -> Point:
    """Returns a / b; 0 where b is 0."""
    size = b[0] * b[0] + b[1] * b[1]
    if size == 0:
        return 0, 0
    return ((a[0] * b[0] + a[1] * b[1]) << bits) // size, ((a[1] * b[0] - a[0] * b[1]) << bits) // size


def _evaluated(search: _Search, z: Point) -> tuple[Point, Point]:
    """Returns f(z) and f'(z) by Horner's rule."""
    bits = search.bits
    (x, y), a, b, c, d = z, 0, 0, 0, 0
    for coefficient in search.coefficients:
        c, d = (c * x - d * y >> bits) + a, (c * y + d * x >> bits) + b
        a, b = (a * x - b * y >> bits) + coefficient, a * y + b * x >> bits
    return (a, b), (c, d)
