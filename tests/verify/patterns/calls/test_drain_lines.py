"""What COH203 cannot decide about a call is asked once, whichever of several timers drains its callee."""

from __future__ import annotations

from coherence.checking.design_check import analyse
from coherence.language.reading import read_text

FILE = "design.yaml"
TEXT = """coherence: 1
components: {pool: {takes: {serve: 1 s .. 2 s}}}
calls:
  - {from: app, to: pool}
timers:
  one: {from: pool drains, after: 30 s, then: stop pool}
  two: {from: pool drains, after: 40 s, then: kill pool}
"""


def test_one_line_names_all_timers() -> None:
    found = analyse(
        read_text(TEXT, FILE),
        {FILE: TEXT},
        lambda s: read_text(s[FILE], FILE),
        select=("COH203",),
        verify_repairs=False,
    ).findings
    (one,) = found
    assert {"app -> pool", "one", "two"} <= set(one.of)
    assert {place.line for place in one.places} >= {6, 7}
