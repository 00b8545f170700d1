"""Models of what is counted one by one: products of a layer, numbers that are cached, loads of a small fast memory."""

from __future__ import annotations

import itertools
from fractions import Fraction

from coherence.minimums.adversaries.search import Adversary, Chooser
from coherence.minimums.bound import Inputs
from coherence.minimums.floors import Number


def multiplied(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Every product of a training step is listed, each with how many terms it multiplies and adds."""
    assert bound
    tokens, width = int(inputs["sequence"]), int(inputs["width"])
    inner = 4 * width if "four_wide_layers" not in dropped else width
    shared = width // 2 if "full_heads" in dropped else width  # width of keys and of values
    seen = tokens * (tokens + 1) // 2 if "full_attention" in dropped else tokens * tokens
    layer = [tokens * width * width, tokens * width * shared, tokens * width * shared]  # queries, keys, values
    layer += [seen * width, seen * width, tokens * width * width]  # scores, what they weigh, the way out
    layer += [tokens * width * inner] * (1 if "dense_model" in dropped else 2)
    again = choose((0, 1))  # the way forward may be computed once more for the way back
    passes = 3 + again - ("all_weights_trained" in dropped)
    terms = sum(sum(layer) for _ in range(int(inputs["layers"])) for _ in range(int(inputs["batch"])))
    each = Fraction(7, 4) if "plain_products" in dropped else 2
    return terms * passes * each


def stored(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Every number that a token leaves in the cache is listed: a key and a value of each head of each layer."""
    assert bound
    heads = itertools.product(range(int(inputs["layers"])), range(int(inputs["kv_heads"])), ("key", "value"))
    numbers = sum(int(inputs["head"]) for _ in heads)
    return numbers * Fraction(inputs["number"]) / (choose((1, 2)) if "uncompressed" in dropped else 1)


def loaded(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A product of matrices, term by term in any order; what is not in the fast memory is moved there."""
    assert bound
    m, k, n, room = (int(inputs[name]) for name in ("m", "k", "n", "room"))
    left = list(itertools.product(range(m), range(k), range(n)))
    if "plain_products" in dropped:
        left = left[: len(left) // 4]  # the others follow from these
    fast, moved = set[tuple[str, int, int]](), 0
    while left:
        row, term, column = choose(left)
        left.remove((row, term, column))
        needed = {("a", row, term), ("b", term, column), ("c", row, column)}
        if "given_inputs" in dropped:
            needed = {("c", row, column)}  # what is multiplied is computed in place
        for number in sorted(needed - fast):
            if len(fast) >= room:
                fast.remove(choose(sorted(fast - needed)))
            fast.add(number)
            moved += 1
        choose.passed(moved)
    return moved


def _given(**values: int) -> Inputs:
    return {name: Fraction(value) for name, value in values.items()}


ADVERSARIES = (
    Adversary(
        "products of a layer",
        {"transformer_operations": (_given(batch=2, sequence=3, layers=2, width=4),)},
        multiplied,
        ("four_wide_layers", "full_heads", "full_attention", "dense_model", "plain_products", "all_weights_trained"),
    ),
    Adversary(
        "numbers of a token",
        {"kv_bytes_per_token": (_given(layers=3, kv_heads=2, head=4, number=2),)},
        stored,
        ("uncompressed",),
    ),
    Adversary(
        "loads of a fast memory",
        {"product_traffic": (_given(m=2, k=2, n=2, room=3), _given(m=2, k=2, n=3, room=3))},
        loaded,
        ("plain_products", "given_inputs"),
    ),
)
