"""What an answer about a timer points at: the numbers that decide, and what its defaults decide."""

from __future__ import annotations

import pytest

from tests.case_files import findings_of

PROBE = """coherence: 1
components: {{server: {{takes: {{load: 60 s .. 90 s}}}}}}
timers: {{startup: {{from: server starts, every: 10 s{more}, unless: server.load ends, then: restart server}}}}
"""
DEFAULTS = (
    "first of startup is not set: 0 s",
    "misses of startup is not set: 1",
    "reply_within of startup is not set: 0 s",
)


@pytest.mark.parametrize(
    ("more", "unset"), [("", 3), (", first: 0 s", 2), (", first: 0 s, misses: 1, reply_within: 0 s", 0)]
)
def test_what_a_timer_leaves_to_its_defaults_is_named_at_the_timer(more: str, unset: int) -> None:
    (finding,) = (f for f in findings_of(PROBE.format(more=more)) if f.code == "COH206")
    labels = [place.label for place in finding.places]
    assert labels[1] == "server.load takes 60 s to 90 s"
    assert labels[2:] == (["; ".join(DEFAULTS[-unset:])] if unset else [])


def test_a_timer_that_only_tells_is_not_put_off_with_the_one_that_ends() -> None:
    timers = "{after}, unless: server.load ends, then: {then}"
    text = (
        "coherence: 1\ncomponents: {server: {takes: {load: 5 min .. 50 min}}}\ntimers:\n"
        f"  give_up: {{from: server.load starts, {timers.format(after='after: 10 min', then='kill server')}}}\n"
        f"  call: {{from: server.load starts, {timers.format(after='after: 40 s', then='page operator')}}}\n"
    )
    repairs = next(f for f in findings_of(text) if f.code == "COH207" and f.repairs).repairs
    assert {edit.place.line for repair in repairs for edit in repair.edits} == {4}
