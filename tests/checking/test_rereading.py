"""Of an edited text only the edited entries are read again: whose line is whose, and what stands for the rest."""

from __future__ import annotations

import pytest

from coherence.base.errors import InputError
from coherence.checking.rereading import owned, reread, reread_entries
from coherence.language.reading import read_text
from coherence.model.independent_parts import Unit

TEXT = """coherence: 1
# about both
timers:
  a: {from: web starts, after: 3 s}

  b: {from: db starts, after: 4 s}
calls:
  - {from: web, to: db, per_try: 2 s}
  - {from: db, to: disk, per_try: 1 s}
loops:
  c:  # of the web
    trigger: web.load > 3
    actuation: {signal: web.size, law: step, by: 1}
"""
READ = "d.yaml"


def unit(line: int, name: str = "u") -> Unit:
    return Unit("timers", f"{name}{line}", line, frozenset())


def test_a_unit_owns_the_lines_from_its_own_to_the_next() -> None:
    lines = ["coherence: 1", "timers:", "  a:", "    x: 1", "# told", "", "  b:", "loops:", "  c:"]
    a, b, c = unit(3), unit(7), unit(9)
    assert owned(lines, [a, b, c]) == [None, None, a, a, a, a, b, None, c]
    assert owned(lines, [a, unit(3, "v")]) is None
    assert owned(lines, [unit(0)]) is None
    assert owned(lines, [unit(10)]) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [("4 s", "500 ms"), ("per_try: 1 s", "per_try: 1 s, deadline: 9 s"), ("load > 3", "load > 4"), ("# of", "# by")],
)
def test_the_edited_entry_is_read_and_the_others_are_taken_over(old: str, new: str) -> None:
    before, text = read_text(TEXT, READ), TEXT.replace(old, new)
    after = reread_entries(before, text)
    assert after is not None
    assert repr(after) == repr(read_text(text, READ))  # with every place
    assert (after.text, after.comments) == (text, read_text(text, READ).comments)
    sections = (("timers", "a"), ("timers", "b"), ("calls", 0), ("calls", 1), ("loops", "c"))
    same = [getattr(after, section)[name] is getattr(before, section)[name] for section, name in sections]
    assert same.count(False) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  b: {", "\n  b: {"),  # a line more
        ("4 s", "&long 4 s"),
        ("# about both", "note: x"),  # of no entry
        ("  b: {", "  d: {"),
        ("3 s}", "3 s"),
    ],
)
def test_what_is_no_edit_inside_entries_is_left_to_the_whole_text(old: str, new: str) -> None:
    assert reread_entries(read_text(TEXT, READ), TEXT.replace(old, new)) is None


def test_entries_that_change_places_are_read_in_their_order() -> None:
    one, other = "  a: {from: web starts, after: 3 s}", "  b: {from: db starts, after: 4 s}"
    text = TEXT.replace(one, "first").replace(other, one).replace("first", other)
    assert list(read_text(text, READ).timers) == ["b", "a"]
    assert reread_entries(read_text(TEXT, READ), text) is None


def test_an_edited_entry_that_does_not_fit_is_refused_as_in_the_whole_text() -> None:
    text = TEXT.replace("load > 3", "load > 3 and web.size + 1 s > 2")
    with pytest.raises(InputError) as refused:
        read_text(text, READ)
    with pytest.raises(InputError) as again:
        reread(read_text(TEXT, READ), text)
    assert set(again.value.problems) == set(refused.value.problems)


WEIGHED = """coherence: 1
components:
  app: {cases: {a: 1 .. 9, b: 1}}
  x: {copies: 3}
  y: {}
calls:
  - {from: app, to: x, case: a}
  - {from: app, to: y, case: b}
loops:
  shift: {trigger: always, timescale: {period: 1 s}, actuation: {signal: app.cases.a, to: "2", bounds: [1, 9]}}
limits:
  sends: {counts: attempts(x), at_most: 5, window: 1 s}
workload:
  web: {rate: 1 req/s, service: {mean: 1 s, cv: 1, law: exponential}}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("bounds: [1, 9]", "bounds: [1, 12]"),
        ("a: 1 .. 9", "a: 1 .. 5"),
        ("a: 1 .. 9", "a: 1 .. 9, c: 1"),
        ("to: y, case: b", "to: y, case: a"),
        ("at_most: 5", "at_most: 5 req/s"),
        ("cv: 1,", "cv: 2,"),
    ],
)
def test_an_edited_entry_is_held_against_the_others_as_in_the_whole_text(old: str, new: str) -> None:
    before, text = read_text(WEIGHED, READ), WEIGHED.replace(old, new)
    with pytest.raises(InputError) as refused:
        read_text(text, READ)
    with pytest.raises(InputError) as again:
        reread(before, text)
    assert set(again.value.problems) == set(refused.value.problems)


IMPLIED = """coherence: 1
components:
  web: {copies: 3, takes: {start: 2 s .. 20 s, answer: 1 s}}
  gpu: {count: 4, memory: 40 GiB}
jobs:
  train: {needs: 1 gpu}
timers:
  live: {uses: liveness_probe, from: web starts, misses: 3, then: restart web}
  ready: {uses: readiness_probe, from: web slow, first: 10 s, misses: 3, then: unlist web}
  up: {uses: startup_probe, from: web starts, misses: 12, unless: web.start ends, then: restart web}
  other: {from: web hangs, after: 3 s, then: page team}
places:
  gpu: {count: 2}
  n1: {zone: a}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("start: 2 s .. 20 s", "begin: 2 s .. 20 s"),
        ("misses: 12,", "misses: 13,"),
        ("uses: startup_probe", "uses: liveness_probe"),
        ("unless: web.start ends, ", ""),
        ("misses: 3, then: unlist", "misses: 4, then: unlist"),
        ("from: web slow, first: 10 s", "from: web starts, first: 10 s"),
        ("memory: 40 GiB", "memory: 80 GiB"),
        ("needs: 1 gpu", "needs: {gpu: 1, memory: 3 GiB}"),
        ("after: 3 s", "after: 4 s"),
    ],
)
@pytest.mark.parametrize("without", ["uses: startup_probe, ", ", unless: web.start ends", "no such words"])
def test_what_entries_imply_together_is_implied_after_an_edit_of_one(old: str, new: str, without: str) -> None:
    before = IMPLIED.replace(without, "")
    text = before.replace(old, new)
    assert repr(reread(read_text(before, READ), text)) == repr(read_text(text, READ))


READY = """coherence: 1
components:
  web: {copies: 3, takes: {start: 2 s .. 20 s, answer: 1 s}}
timers:
  giveup: {from: web starts, after: 30 s, unless: web ready, then: restart web}
  probe: {from: web slow, every: 10 s, misses: 3, then: page team}
promises:
  up: after web starts then web ready within 1 min
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("after: 30 s", "after: 10 s"),
        ("start: 2 s .. 20 s", "begin: 2 s .. 20 s"),
        ("then: page team", "then: unlist web"),
        ("within 1 min", "within 10 s"),
        ("unless: web ready", "unless: web.start ends"),
    ],
)
@pytest.mark.parametrize("back", [False, True])
def test_when_a_thing_is_ready_is_read_anew_after_an_edit(old: str, new: str, back: bool) -> None:
    before, after = (READY, READY.replace(old, new))[:: -1 if back else 1]
    assert repr(reread(read_text(before, READ), after)) == repr(read_text(after, READ))
