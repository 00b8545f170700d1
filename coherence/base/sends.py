"""Computes how many sends a call makes that tries again: where every try fails, and on average."""

from __future__ import annotations

import math
from typing import Any

Tries = tuple[int | None, ...]  # nested retries on one call, outermost first


def product(tries: Tries) -> int | None:
    """Sends of one call whose every try fails: the product of its layers."""
    if None in tries:
        return None
    return math.prod(n for n in tries if n is not None)


def expected(failing: Any, tries: Any) -> Any:
    """Returns 1 + q + ... + q^(A - 1) sends on average: q = `failing` the chance of a failing try, A tries (or inf).

    Exact for rationals.
    """
    if failing >= 1:
        return tries
    if math.isinf(tries):
        return 1 / (1 - failing)
    if isinstance(failing, float) and failing > 0.5:
        return -math.expm1(tries * math.log(failing)) / (1 - failing)
    return (1 - failing**tries) / (1 - failing)
