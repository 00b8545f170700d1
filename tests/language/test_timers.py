"""What holds without a key of a timer, as its words say: it fires when one with the default written out does."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.verify.timers.firing import Firing, firing


def fires(keys: str) -> Firing | None:
    return firing(read_text(f"coherence: 1\ntimers: {{t: {{from: server hangs, {keys}}}}}", "d").timers["t"])


@pytest.mark.parametrize("written", ["first: 0 s", "misses: 1", "reply_within: 0 s", "jitter: 0 s", "paced_by: clock"])
def test_what_holds_without_a_key_is_what_its_words_say(written: str) -> None:
    plain, stated = fires("every: 10 s"), fires(f"every: 10 s, {written}")
    assert plain is not None
    assert stated is not None
    assert plain.window == stated.window


@pytest.mark.parametrize(("text", "kind"), [("renew: 5 s", "Quantity"), ("renew: server answers", "Event")])
def test_a_renewal_is_an_interval_or_an_event(text: str, kind: str) -> None:
    timer = read_text(f"coherence: 1\ntimers: {{t: {{from: server hangs, after: 20 s, {text}}}}}", "d").timers["t"]
    assert type(timer.renew).__name__ == kind
