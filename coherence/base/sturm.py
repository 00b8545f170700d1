"""Integer polynomials: exact greatest common divisors, Sturm chains, and roots against the unit circle.

A polynomial is a list of integers, highest degree first, without leading zeros; `[]` is zero.  Signs
count, positive factors do not: most functions return a primitive polynomial (content 1).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from coherence.base.errors import InternalError

Poly = list[int]

# Exponents e for which 2^e - 1 is prime: fields in which exact results are found without coefficient growth.
# SOURCE: OEIS A000043.
MERSENNE = (61, 127, 521, 1279, 2203, 4423, 9941, 19937, 44497, 86243, 216091, 756839, 1257787)
ROUNDS = 64  # root squarings: separates roots further than about n / 2^64 from the circle


def mersenne_primes(above: int = 0) -> Iterator[int]:
    """Returns the primes of `MERSENNE` greater than `above`, smallest first."""
    return ((1 << e) - 1 for e in MERSENNE if (1 << e) - 1 > above)


def centred(residue: int, prime: int) -> int:
    """Returns the representative of a residue class in (-prime/2, prime/2)."""
    residue %= prime
    return residue - prime if 2 * residue > prime else residue


def primitive(coefficients: Iterable[Fraction | int]) -> Poly:
    """Returns the primitive integer polynomial with the same roots and the same signs."""
    ratios = [Fraction(c) for c in coefficients]
    scale = math.lcm(*(r.denominator for r in ratios))
    return _reduced([r.numerator * (scale // r.denominator) for r in ratios])


def _reduced(p: Poly) -> Poly:
    start = next((i for i, c in enumerate(p) if c), len(p))
    content = math.gcd(*p)
    return [c // content for c in p[start:]] if content > 1 else p[start:]


def derivative(p: Poly) -> Poly:
    """Returns p'."""
    n = len(p) - 1
    return [c * (n - i) for i, c in enumerate(p[:-1])]


def value(p: Poly, x: int) -> int:
    """Returns p(x) by Horner's rule."""
    total = 0
    for c in p:
        total = total * x + c
    return total


def remainder(a: Poly, b: Poly) -> Poly:
    """Returns a positive multiple of a mod b, primitive."""
    a, lead, sign = list(a), abs(b[0]), 1 if b[0] > 0 else -1
    for start in range(len(a) - len(b) + 1):
        head = a[start] * sign
        for i in range(start, len(a)):
            a[i] *= lead
        for i, c in enumerate(b, start):
            a[i] -= head * c
    return _reduced(a[max(len(a) - len(b) + 1, 0) :])


def quotient(a: Poly, b: Poly) -> Poly | None:
    """Returns a / b for primitive b, or None where b does not divide a (Gauss's lemma: no fractions arise)."""
    a, result = list(a), []
    for start in range(len(a) - len(b) + 1):
        factor, rest = divmod(a[start], b[0])
        if rest:
            return None
        result.append(factor)
        for i, c in enumerate(b, start):
            a[i] -= factor * c
    return None if any(a) else result


def divided(a: Poly, b: Poly) -> Poly:
    """Returns a / b where primitive b is known to divide a.  Raises InternalError where it does not."""
    result = quotient(a, b)
    if result is None:
        raise InternalError("a polynomial division left a remainder")
    return result


def gcd(a: Poly, b: Poly) -> Poly:
    """Returns the greatest common divisor, primitive with positive leading coefficient.

    Found modulo a prime and lifted.  The image never has a smaller degree than the true divisor, so
    a lifted image that divides both is the divisor: the primes only decide the cost.
    SOURCE: von zur Gathen & Gerhard, Modern Computer Algebra, section 6.4.
    """
    if not a or not b:
        return _positive(_reduced(a or b))
    lead = math.gcd(a[0], b[0])
    for prime in mersenne_primes():
        if lead % prime == 0:
            continue
        image = _gcd_modulo(a, b, prime)
        candidate = _positive(_reduced([centred(lead * c, prime) for c in image]))
        if len(candidate) == 1 or (quotient(a, candidate) is not None and quotient(b, candidate) is not None):
            return candidate
    raise InternalError("a greatest common divisor needs coefficients of more than a million bits")


def _positive(p: Poly) -> Poly:
    return [-c for c in p] if p and p[0] < 0 else p


def _gcd_modulo(a: Poly, b: Poly, prime: int) -> Poly:
    a, b = _trimmed([c % prime for c in a]), _trimmed([c % prime for c in b])
    while b:
        inverse = pow(b[0], -1, prime)
        b = [c * inverse % prime for c in b]
        for start in range(len(a) - len(b) + 1):
            head = a[start]
            if head:
                for i, c in enumerate(b, start):
                    a[i] = (a[i] - head * c) % prime
        a, b = b, _trimmed(a[max(len(a) - len(b) + 1, 0) :])
    inverse = pow(a[0], -1, prime)
    return [c * inverse % prime for c in a]


def _trimmed(p: Poly) -> Poly:
    return p[next((i for i, c in enumerate(p) if c), len(p)) :]


def square_free(p: Poly) -> list[Poly]:
    """Returns square-free f1, f2, ... with p = content * f1 * f2^2 * f3^3 ... (Yun's algorithm)."""
    p = _positive(_reduced(p))
    common = gcd(p, derivative(p))
    rest, factors = divided(p, common), []
    while len(rest) > 1:
        shared = gcd(rest, common)
        factors.append(divided(rest, shared))
        rest, common = shared, divided(common, shared)
    return factors


def square_free_part(p: Poly) -> Poly:
    """Returns the polynomial with the roots of p, each once."""
    return divided(_reduced(p), gcd(p, derivative(p)))


def signed_remainders(a: Poly, b: Poly) -> list[Poly]:
    """Returns the generalised Sturm chain a, b, -(a mod b), ... up to positive factors."""
    chain = [a, b]
    while chain[-1]:
        chain.append([-c for c in remainder(chain[-2], chain[-1])])
    return chain[:-1]


def variations(values: Iterable[int]) -> int:
    """Returns the number of sign changes, zeros left out."""
    signs = [v > 0 for v in values if v]
    return sum(left != right for left, right in pairwise(signs))


def real_roots(p: Poly, low: int, high: int) -> int:
    """Returns the number of distinct real roots in (low, high], for p(low) != 0 and no repeated root at high."""
    chain = signed_remainders(p, derivative(p))
    return variations(value(f, low) for f in chain) - variations(value(f, high) for f in chain)


def cauchy_index(numerator: Poly, denominator: Poly) -> int:
    """Jumps of numerator/denominator from -inf to +inf minus jumps back, over the whole real line.

    SOURCE: Gantmacher, The Theory of Matrices II, chapter XV, sections 2 and 3.
    """
    chain = signed_remainders(denominator, numerator)
    below = variations(f[0] if len(f) % 2 else -f[0] for f in chain)
    return below - variations(f[0] for f in chain)


def half_plane(p: Poly) -> Poly:
    """Returns the numerator of p((1 + s) / (1 - s)): the open unit disc becomes the open left half plane."""
    result, power = [p[0]], [1]
    for c in p[1:]:
        power = _times_linear(power, -1)
        result = [x + c * y for x, y in zip(_times_linear(result, 1), power, strict=True)]
    return result


def _times_linear(p: Poly, slope: int) -> Poly:
    """Returns p(s) * (slope * s + 1)."""
    return [slope * a + b for a, b in zip([*p, 0], [0, *p], strict=True)]


def inside_by_index(p: Poly) -> int:
    """Returns the number of roots inside the unit circle, for p without roots on it and reciprocal pairs.

    With Q = `half_plane(p)` and Q(iw) = R + iI, the argument gains pi for each root on the left and
    loses pi for each on the right; the Cauchy index of I/R counts those half turns.  Without
    reciprocal pairs R and I are coprime, and the chain copes with every drop of degree.
    """
    q = half_plane(p)
    n = len(q) - 1
    even = [c * (1, 0, -1, 0)[(n - i) % 4] for i, c in enumerate(q)]
    odd = [c * (0, 1, 0, -1)[(n - i) % 4] for i, c in enumerate(q)]
    big, small = (even, odd) if n % 2 == 0 else (odd, [-c for c in even])
    return (n - cauchy_index(_reduced(small), _reduced(big))) // 2


def inside_by_squaring(p: Poly) -> int | None:
    """Returns the number of roots inside the unit circle, or None; a number also proves that none is on it.

    Roots are squared until one coefficient outweighs all others together: then, by Rouche, as many
    roots lie inside as that coefficient's degree.  Coefficients are rounded to integers with one
    error bound, which the comparison includes, so the answer is rigorous.
    SOURCE: Pellet 1881; Graeffe's iteration as in Becker, Sagraloff, Sharma & Yap 2018, section 3.
    """
    for effort in (4, 16, 64):
        answer, exhausted = _squaring(p, bits=effort * (len(p) + 16))
        if answer is not None or exhausted:
            return answer
    return None


def _squaring(p: Poly, *, bits: int) -> tuple[int | None, bool]:
    """Returns (answer, all rounds done): a pair (None, False) asks for more bits."""
    p, error = _rounded(p, 0, bits)
    for _ in range(ROUNDS):
        sizes = [abs(c) for c in p]
        top, total, slack = max(sizes), sum(sizes), len(p) * error
        if 2 * top - total > slack:
            return len(p) - 1 - sizes.index(top), True
        if slack >= top:
            return None, False
        p, error = _rounded(_root_squares(p), error * (2 * total + slack), bits)
    return None, True


def _rounded(p: Poly, error: int, bits: int) -> tuple[Poly, int]:
    shift = max(abs(c) for c in p).bit_length() - bits
    return (p, error) if shift <= 0 else ([c >> shift for c in p], (error >> shift) + 2)


def _root_squares(p: Poly) -> Poly:
    """Returns the polynomial whose roots are the squares: p = e(z^2) + z o(z^2) gives e^2 - z o^2, up to sign."""
    n = len(p) - 1
    same, other = _square(p[::2]), _square(p[1::2])  # same parity as n, and the other one
    if n % 2 == 0:
        return [a - b for a, b in zip(same, [0, *other, 0] if other else [0], strict=True)]
    return [a - b for a, b in zip([*same, 0], [0, *other], strict=True)]


def _square(p: Sequence[int]) -> Poly:
    result = [0] * max(2 * len(p) - 1, 0)
    for i, a in enumerate(p):
        if a:
            result[2 * i] += a * a
            twice = 2 * a
            for j in range(i + 1, len(p)):
                result[i + j] += twice * p[j]
    return result
