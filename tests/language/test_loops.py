"""What holds without a key of a loop, as its words say: the same sampled loop as with the default written out."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.model.elaborate import model_of
from coherence.model.model import SampledLoop

LOOP = """coherence: 1
components: {{pool: {{desired: 1 .. 50, load: 20, util: load / desired}}}}
loops:
  a:
    target: {{signal: pool.util, setpoint: 50 %{target}}}
    timescale: {{period: 15 s{timescale}}}
    actuation: {{signal: pool.desired, bounds: [1, 50]{actuation}}}
"""
FACTS = (
    "tolerance",
    "hold_down",
    "hold_up",
    "cooldown",
    "lands",
    "mode",
    "counts_commanded",
    "law",
    "rates",
    "trigger",
)


def sampled(**keys: str) -> SampledLoop:
    stated = {name: f", {keys[name]}" if name in keys else "" for name in ("target", "timescale", "actuation")}
    return model_of(read_text(LOOP.format(**stated), "d")).loops[0]


@pytest.mark.parametrize(
    ("where", "written"),
    [
        ("target", "tolerance: 0"),
        ("timescale", "hold_down: 0 s"),
        ("timescale", "hold_up: 0 s"),
        ("timescale", "lands: 0 s"),
        ("actuation", "mode: always"),
        ("actuation", "count: landed"),
        ("actuation", "law: proportional"),
    ],
)
def test_what_holds_without_a_key_is_what_its_words_say(where: str, written: str) -> None:
    plain, stated = sampled(), sampled(**{where: written})
    for fact in FACTS:
        assert str(getattr(plain, fact)) == str(getattr(stated, fact))


@pytest.mark.parametrize(("value", "law"), [("by: 2", "step"), ("to: 4", "set")])
def test_without_a_law_the_value_says_it(value: str, law: str) -> None:
    assert sampled(actuation=value).law == law


def test_a_rate_limits_both_ways_unless_it_names_one() -> None:
    (rate,) = sampled(actuation="rate: {by: 4, per: 15 s}").rates
    assert (rate.up, rate.down) == (True, True)
