"""What a later design has more of: each kind, what shrinks, what stands on a tier, and what is an expression."""

from __future__ import annotations

import pytest

from coherence.checking.repair.added_infrastructure import added_infrastructure
from coherence.language.reading import read_text

DESIGN = """coherence: 1
infrastructure:
  tiers: {h100: {uses: h100_sxm, count: 32}, cpu: {count: 8}}
  links: [{ends: [h100, cpu], bandwidth: 100 Gbit/s, latency: 20 us}]
places: {n1: {gpu: 8}}
components: {web: {copies: 4}, serving: {copies: 9, runs_on: h100}}
loops:
  up: {actuation: {signal: web.copies, by: 1, bounds: [1, 10]}}
  own: {actuation: {signal: serving.copies, by: 1, bounds: [1, 10]}}
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("count: 32", "count: 40", ("h100: 32 -> 40 devices",)),
        ("count: 32", "count: 16", ()),
        (", cpu: {count: 8}}", ", cpu: {count: 8}, more: {count: 2}}", ("more: 2 devices, which stood nowhere",)),
        ("latency: 20 us}", "latency: 20 us, count: 2}",
         ("h100 - cpu: bandwidth 100 Gbit/s latency 20 us -> count 2 bandwidth 100 Gbit/s latency 20 us",)),
        ("gpu: 8", "gpu: 12", ("n1: 8 -> 12 gpu",)),
        ("copies: 4", "copies: 5", ("web: 4 -> 5 copies",)),
        ("copies: 4", "copies: 3", ()),
        ("copies: 9", "copies: 19", ()),
        ("copies: 4", "copies: 2 + up.x", ("web: copies are an expression, which is not compared",)),
        ("copies, by: 1, bounds: [1, 10]", "copies, by: 1, bounds: [1, 20]", ("web (by up): 10 -> 20 at most",)),
        ("by: 1", "by: 2", ()),
    ],
)  # fmt: skip
def test_what_the_later_design_has_more_of_is_named(old: str, new: str, words: tuple[str, ...]) -> None:
    assert DESIGN.count(old) >= 1
    assert added_infrastructure(read_text(DESIGN), read_text(DESIGN.replace(old, new, 1))) == words


def test_the_same_design_adds_nothing() -> None:
    assert added_infrastructure(read_text(DESIGN), read_text(DESIGN)) == ()
