"""Edits of texts: the spelling that stands there, comments, line ends, and what a manifest means by a number."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence import importers
from coherence.base.places import Place
from coherence.base.units import ONE, SECOND, Dimension
from coherence.findings import repairs
from coherence.findings.finding import Edit
from coherence.findings.question_input import Subject
from coherence.language.document import read_text as documents
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Quantity

ROUTE = """apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web}
spec:
  hosts: [web]
  http:
    - route: [{destination: {host: web}}]
      timeout: 10s
      retries: {attempts: 4, perTryTimeout: 4s}
"""


@pytest.mark.parametrize(
    ("old", "now", "value", "dimension", "new"),
    [
        ("4", 5, 3, ONE, "2"),  # attempts are the tries without the first
        ("1", 2, 1, ONE, "0"),
        ("70", Fraction(7, 10), Fraction(1, 2), ONE, "50"),  # per cent without a sign
        ("500m", Fraction(1, 2), Fraction(1, 4), ONE, "250m"),
        ("2Gi", 2 * 1024**3, 3 * 1024**3, ONE, "3Gi"),
        ("30", 30, Fraction(91, 2), SECOND, "46"),  # whole seconds stay whole, away from where they stood
        ("30", 30, Fraction(29, 2), SECOND, "14"),
        ("10s", 10, 25, SECOND, "25s"),
        ("1m30s", 90, 120, SECOND, "120s"),
        ('"4"', 5, 3, ONE, '"2"'),
    ],
)
def test_a_manifest_keeps_its_own_meaning(
    old: str, now: Fraction, value: Fraction, dimension: object, new: str
) -> None:
    assert repairs.respelled(old, Fraction(now), Fraction(value), dimension) == new  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("old", "value", "dimension", "new"),
    [
        ("38 h", Fraction(150_000), SECOND, "42 h"),  # 41.67 h
        ("38 h", Fraction(100_000), SECOND, "27 h"),
        ("30 min", Fraction(100), SECOND, "100 s"),  # far from minutes
        ("38 h", Fraction(12 * 3600 + 1800), SECOND, "12.5 h"),
        ("250 ms", Fraction(1, 3), SECOND, "340 ms"),
        ("7 d", Fraction(10**6), SECOND, "12 d"),
        ("0 h", Fraction(10**6), SECOND, "1000000 s"),
    ],
)
def test_a_repair_keeps_the_unit_of_the_place(old: str, value: Fraction, dimension: Dimension, new: str) -> None:
    assert repairs.render_like(old, value, dimension) == new


def test_no_manifest_says_fewer_than_no_retries() -> None:
    assert repairs.respelled("4", Fraction(5), Fraction(0), ONE) is None


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 9), st.integers(1, 9))
def test_tries_are_read_back_as_they_were_meant(attempts: int, tries: int) -> None:
    text = ROUTE.replace("attempts: 4", f"attempts: {attempts}")
    sources = {"v.yaml": text}
    subject = Subject(importers.design_of(documents(text, "v.yaml")), sources)
    (stated,) = subject.design.calls[0].tries
    assert isinstance(stated, Quantity)
    edit = repairs.change(subject, stated, Fraction(tries))
    assert edit is not None
    edited = repairs.apply([edit], sources)
    assert edited is not None
    (again,) = importers.design_from_sources(edited).calls[0].tries
    assert isinstance(again, Quantity)
    assert again.low == tries


def test_a_place_alone_is_understood_as_its_manifest_means_it() -> None:
    subject = Subject(importers.design_of(documents(ROUTE, "v.yaml")), {"v.yaml": ROUTE})
    (stated,) = subject.design.calls[0].tries
    edit = repairs.rewrite(subject, stated.place, Fraction(3), ONE)
    assert edit is not None
    assert (edit.old, edit.new) == ("4", "2")
    words = Place("v.yaml", 2, 7, 2, 21)
    assert repairs.rewrite(subject, words, Fraction(3), ONE) is None


@pytest.mark.parametrize("amount", ["500m", "1Gi", "'250Mi'"])
def test_a_suffix_of_kubernetes_is_no_unit_of_the_language(amount: str) -> None:
    text = f"{ROUTE}# {amount}\n"
    subject = Subject(importers.design_of(documents(text, "v.yaml")), {"v.yaml": text})
    line = text.count("\n")
    assert repairs.rewrite(subject, Place("v.yaml", line, 3, line, 3 + len(amount)), Fraction(2), ONE) is None


def test_a_manifest_gets_no_key_that_its_kind_does_not_have() -> None:
    subject = Subject(importers.design_of(documents(ROUTE, "v.yaml")), {"v.yaml": ROUTE})
    deadline = subject.design.calls[0].deadline
    assert isinstance(deadline, Quantity)
    assert repairs.insert(subject, deadline.place, "hold_off", "3s") is None
    edit = repairs.insert(subject, deadline.place, "per_try", "3s")
    assert edit is not None
    assert "perTryTimeout: 3s" in edit.new


def test_an_inserted_line_stands_below_the_comment_of_its_neighbour() -> None:
    text = "coherence: 1\ncalls:\n  - from: a\n    to: b\n    deadline: 2 s  # agreed\n    tries: 2\n"
    subject = Subject(read_text(text, "d.yaml"), {"d.yaml": text})
    deadline = subject.design.calls[0].deadline
    assert isinstance(deadline, Quantity)
    edit = repairs.insert(subject, deadline.place, "per_try", "1 s")
    assert edit is not None
    edited = repairs.apply([edit], {"d.yaml": text})
    assert edited == {"d.yaml": text.replace("# agreed\n", "# agreed\n    per_try: 1 s\n")}


@pytest.mark.parametrize(
    ("entry", "edited"),
    [
        ("a: {trigger: x.y > 1}", "a: {rank: 1, trigger: x.y > 1}"),
        ("a:  # the first\n    trigger: x.y > 1", "a:  # the first\n    rank: 1\n    trigger: x.y > 1"),
    ],
)
def test_a_key_is_added_as_the_first_of_its_entry(entry: str, edited: str) -> None:
    text = f"coherence: 1\nloops:\n  {entry}\n"
    subject = Subject(read_text(text, "d.yaml"), {"d.yaml": text})
    edit = repairs.insert_first(subject, subject.design.loops["a"].place, "rank", "1")
    assert edit is not None
    assert repairs.apply([edit], {"d.yaml": text}) == {"d.yaml": f"coherence: 1\nloops:\n  {edited}\n"}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_stay(end: str) -> None:
    text = end.join(["a: 1", "b: 2  # two", "c: 3", ""])
    edits = [Edit(Place("f", 2, 4, 2, 5), "2", "20"), Edit(Place("f", 3, 5, 3, 5), "", "\nd: 4")]
    assert repairs.apply(edits, {"f": text}) == {"f": end.join(["a: 1", "b: 20  # two", "c: 3", "d: 4", ""])}


def test_edits_that_overlap_or_do_not_fit_are_refused() -> None:
    one, other = Edit(Place("f", 1, 4, 1, 6), "12", "3"), Edit(Place("f", 1, 5, 1, 7), "23", "4")
    assert repairs.apply([one, other], {"f": "a: 123\n"}) is None
    assert repairs.apply([one], {"f": "a: 999\n"}) is None
    assert repairs.apply([one], {"g": "a: 123\n"}) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [("1m30s", "150s"), ("'1h0m'", "'150s'"), ("1m 30s", "150s"), ('"*/5 * * * *"', None), ("@daily", None)],
)
def test_of_what_is_no_number_only_durations_are_written_anew(old: str, new: str | None) -> None:
    assert repairs.respelled(old, Fraction(90), Fraction(150), SECOND) == new


WORKERS = """apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: ray}
spec: {enableInTreeAutoscaling: true, workerGroupSpecs: [{groupName: gpu, replicas: 2, maxReplicas: 10}]}
"""


def test_a_kind_without_names_of_our_keys_takes_no_key_and_no_entry_of_the_language() -> None:
    design = importers.design_from_sources({"ray.yaml": WORKERS})
    subject, group = Subject(design, {"ray.yaml": WORKERS}), Place("ray.yaml", 3, 12, 3, 15)
    assert design.imported
    assert not design.spelling
    assert repairs.insert(subject, group, "tries", "2") is None
    assert repairs.insert_before(subject, group, "gate", "{}") is None
    assert repairs.duration_text(subject, Fraction(3, 2)) == "1500ms"


LOOPS = """coherence: 1
loops:
  up: {actuation: {signal: web.copies, by: 1}}  # adds
  down:
    actuation: {by: -1}
"""


def test_an_entry_on_a_line_of_its_own_is_taken_away_and_another_is_not() -> None:
    subject = Subject(read_text(LOOPS, "case.yaml"), {"case.yaml": LOOPS})
    edit = repairs.without(subject, subject.design.loops["up"].place)
    assert edit is not None
    after = repairs.apply([edit], {"case.yaml": LOOPS})
    assert after is not None
    assert set(read_text(after["case.yaml"], "case.yaml").loops) == {"down"}
    assert repairs.without(subject, subject.design.loops["down"].place) is None
