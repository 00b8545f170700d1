"""What a timer that ends a thing bounds, with literal answers."""

from __future__ import annotations

import pytest

from coherence.language.design import Design
from coherence.language.reading import read_text
from coherence.verify.calls.call_graph import call_tree
from coherence.verify.events.bounds import enclosures
from tests.verify.affine_rows import figures

CHAIN = """
coherence: 1
components: {front: {}, middle: {takes: {serve: 2 s}}, back: {takes: {serve: 1 s .. 3 s}}}
calls:
  - {from: front, to: middle, tries: 2, per_try: 5 s, deadline: 20 s}
  - {from: middle, to: back, tries: 3, per_try: 4 s, pause: 1 s, on_timeout: cancel}
"""


def design(text: str = CHAIN) -> Design:
    return read_text(text)


def test_the_try_of_a_caller_encloses_what_the_callee_does() -> None:
    tree = call_tree(design())
    assert [figures(e.inside, e.limit.low) for e in enclosures(design(), tree)] == [("middle", 5)]


@pytest.mark.parametrize(
    ("begins", "bounds"),
    [
        ("middle starts", True),
        ("middle.serve starts", True),
        ("middle.drain starts", False),  # a grace bounds what is in flight at the shutdown, not each call
        ("middle.tidy starts", False),  # work apart from the calls
        ("middle.warm starts", True),
        ("back starts", False),
    ],
)
def test_a_timer_encloses_calls_where_it_may_run_from_their_work(begins: str, bounds: bool) -> None:
    takes = "takes: {serve: 2 s, drain: 5 s, tidy: 9 s, warm: 3 s}, roles: {drain: drain, tidy: apart, warm: start}"
    text = CHAIN.replace("middle: {takes: {serve: 2 s}}", f"middle: {{{takes}}}")
    timers = f"timers: {{guard: {{from: {begins}, after: 6 s, then: kill middle}}}}\n"
    stated = design(text + timers)
    assert ("guard" in [limit.name for limit in enclosures(stated, call_tree(stated))]) is bounds


def test_a_timer_that_the_end_of_a_start_lifts_bounds_no_call() -> None:
    text = CHAIN.replace(
        "middle: {takes: {serve: 2 s}}", "middle: {takes: {serve: 2 s, warm: 3 s}, roles: {warm: start}}"
    )
    timers = "timers: {guard: {from: middle.warm starts, after: 6 s, unless: middle.warm ends, then: kill middle}}\n"
    stated = design(text + timers)
    assert "guard" not in [limit.name for limit in enclosures(stated, call_tree(stated))]
