"""Text for people: what stands where, and nothing that a terminal would act upon."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.places import NOWHERE, Place
from coherence.findings.finding import Accounting, Evidence, Finding, Grade, Report, Severity, Step, Verdict
from coherence.reporting import render
from tests.draws import few
from tests.reporting.conftest import (
    FILES,
    conflict,
    everything,
    long_witness,
    overlapping,
    placeless,
    proof,
    report_of,
    reports,
    span,
    undecided,
    vacuous,
)

FOOTER = (
    "Checked 5 loops, 2 calls, 1 timer, 1 limit; 3 promises: 1 in conflict, 2 undecided; "
    "36 pairs of policies: 1 in conflict, 30 safe, 2 not modelled, 3 unrelated"
)


def shown(finding: Finding, **options: object) -> str:
    """The text of one finding, without what follows it."""
    report = replace(report_of(finding), not_read=(), assumptions=())
    return render("text", report, **options).split("\n\nFound")[0] + "\n"


def test_a_conflict_in_full() -> None:
    assert (
        shown(conflict())
        == """\
error[COH203]: client retries outlive the server's drain   (retry-outlives-drain)
  --> specs/design.yaml:10:30
   |
 8 |     node: 60 s
   |           ---- node is reclaimed after 60 s
 9 | calls:
10 |   - {from: app, to: serving, tries: 4, per_try: 20 s, pause: 2 s}
   |                              ^^^^^^^^  ------------- up to 86 s of re-sending
   |                              |
   |                              four tries
   = conflict (certain): linear arithmetic, z3; witness replayed step by step
   = figures: span = 1 min 26 s; drain = 1 min; load = 0.8125 req/s
   = witness: 0 s: drain; 20 s: try 1 ends; 22 s: try 2; 1 min: node gone; 1 min 6 s: try 4
   = assumes: fixed backoff, no jitter
help: any one of these removes it
  1. specs/design.yaml:8:11   (re-checked: proved)
     - node: 60 s
     + node: 90 s
  2. specs/design.yaml:10:30
     - 4
     + 3
     specs/design.yaml:10:40
     - per_try: 20 s
     + per_try: 12 s
candidate: this may remove it
  specs/design.yaml:10:37   (re-checked)
     - - {from: app, to: serving, tries: 4, per_try: 20 s, pause: 2 s}
     + - {from: app, to: serving, tries: 3, per_try: 18 s, pause: 2 s}
"""
    )


def test_tabs_and_wide_characters_keep_the_carets_in_place() -> None:
    assert (
        shown(undecided())
        == """\
error[COH210]: the pool may empty before a try ends   (pool-empties)
 --> specs/pool.yaml:2:8
  |
2 |     node: 30 s  # 温度 sensor, tab-indented
  |           ^^^^    ---- sensor
  |           |
  |           too short?
3 |     näme: 'π ≈ 3'
  |           ------- a Greek value
 ::: specs/design.yaml:6:16
6 |       per_try: 20 s   # measured at the gateway
  |                ---- one try
  = undecided: bounded search; evidence: bounded; bound: 20 steps
"""
    )


def test_overlapping_places_share_a_row_and_hang_their_labels_below() -> None:
    assert (
        shown(overlapping())
        == """\
warning[COH299]: everything overlaps   (overlap)
  --> specs/design.yaml:10:6
   |
10 |   - {from: app, to: serving, tries: 4, per_try: 20 s, pause: 2 s}
   |     -^^^^^^^^^--------------------------------------------------- one call
   |      |                                          |
   |      |                                          each try
   |      |                                          said twice
   |      the caller
  ::: specs/design.yaml:3:3
 3 |   app:
   |   ---- the loop (to line 6)
   = conflict (possible): exact executor; evidence: simulated
"""
    )


def test_a_place_outside_all_sources_is_named_with_its_label() -> None:
    text = shown(vacuous())
    assert "\n --> <built-in>  supplied by the catalogue\n" in text
    assert "|" not in text


def test_a_place_beyond_the_end_of_its_file_is_named_only() -> None:
    far = replace(vacuous(), places=(Place("specs/pool.yaml", 99, 2, 99, 4, "gone"), Place("unread.yaml", 1, 1, 1, 2)))
    assert "\n --> specs/pool.yaml:99:2  gone\n ::: unread.yaml:1:1\n" in shown(far)


def test_a_real_place_leads_one_that_is_in_no_file() -> None:
    both = replace(vacuous(), places=(NOWHERE, span("specs/design.yaml", 8, "60 s", "here")))
    assert "\n --> specs/design.yaml:8:11\n" in shown(both)
    assert "\n  |           ^^^^ here\n ::: <built-in>\n" in shown(both)


def test_a_finding_without_places_has_a_headline_and_evidence() -> None:
    expected = "info[COH601]: 42 % of it is lost   (costly)\n  = conflict: rule of thumb; evidence: estimated\n"
    assert shown(placeless(), verbose=True).startswith(expected)


def test_a_long_witness_is_cut_in_the_middle_unless_verbose() -> None:
    text = shown(long_witness())
    assert "      ... 188 more\n" in text.replace("         ...", "      ...")
    assert [n for n in range(200) if f" step {n}\n" in text] == [*range(8), *range(196, 200)]
    whole = shown(long_witness(), verbose=True)
    assert [n for n in range(200) if f" step {n}\n" in whole] == list(range(200))
    assert "more\n" not in whole


def test_steps_without_times_are_a_plain_list() -> None:
    steps = tuple(Step(None, f"the {n}th thing happens") for n in range(9))
    text = shown(replace(conflict(), evidence=Evidence(Grade.PROVED, "z3", steps)))
    assert "   = witness:\n       the 0th thing happens\n       the 1th thing happens\n" in text


def test_a_long_source_line_is_cut_around_its_marks() -> None:
    line = "x: " + "a" * 200 + " HERE " + "b" * 200
    place = Place("long.yaml", 1, line.index("HERE") + 1, 1, line.index("HERE") + 5, "look")
    report = replace(report_of(replace(vacuous(), places=(place,))), sources={"long.yaml": line})
    source, carets = render("text", report, width=60).split("\n")[3:5]
    assert len(source) <= 60
    assert source.startswith("1 | ...aaa")
    assert source.endswith("bbb...")
    assert carets.index("^") == source.index("HERE")
    assert carets.endswith("^^^^ look")


def test_proofs_and_notes_take_one_line_unless_verbose() -> None:
    brief = "specs/design.yaml:6:16: proved[COH203]: retries end before the drain does   (retry-outlives-drain)\n"
    assert shown(proof()) == brief
    assert "  = proved: linear arithmetic, z3; certificate: SMT-LIB 2, 2 lines\n" in shown(proof(), verbose=True)
    bare = replace(proof(), evidence=replace(proof().evidence, certificate=None))
    assert "  = proved: linear arithmetic, z3; no certificate\n" in shown(bare, verbose=True)


@pytest.mark.parametrize("grade", [Grade.BOUNDED, Grade.SIMULATED, Grade.LINEARISED, Grade.ESTIMATED])
def test_what_is_weaker_than_a_proof_never_prints_as_proved(grade: Grade) -> None:
    weak = replace(proof(), evidence=Evidence(grade, "a search", bound="20 steps"))
    for name in ("text", "concise", "markdown", "github", "junit"):
        text = render(name, report_of(weak))
        assert "proved" not in text
        assert str(grade) in render(name, report_of(weak), verbose=True)


def test_the_last_lines_count_what_was_found_and_checked() -> None:
    lines = render("text", everything(), timing=0.4149).split("\n")
    assert lines[-3] == "Found 3 errors, 2 warnings, 1 info (4 conflicts), 1 proved; 1 suppressed."
    assert lines[-2:] == [f"{FOOTER}; 1 vacuous, in 0.41 s", ""]


def test_a_clean_report_is_short() -> None:
    clean = replace(report_of(), not_read=(), assumptions=())
    assert render("text", clean) == f"Found nothing.\n{FOOTER}\n"


def test_what_is_not_read_is_counted_and_listed_when_verbose() -> None:
    assert "not read: 1 setting (outside the model; listed only)\nassumes throughout: clocks agree\n" in render(
        "text", report_of()
    )
    verbose = render("text", everything(), verbose=True)
    assert "\nspecs/pool.yaml:3:2: not read: a name has no meaning here (outside the model)\n" in verbose
    assert "\nspecs/design.yaml:8:3: suppressed[COH204]: " in verbose


def test_colours_come_only_when_asked_and_change_nothing_else() -> None:
    plain, coloured = render("text", everything()), render("text", everything(), colour=True)
    assert "\x1b" not in plain
    assert "\x1b[1;31merror[COH203]\x1b[0m" in coloured
    stripped = re.sub(r"\x1b\[[\d;]*m", "", coloured)
    assert [line.rstrip() for line in stripped.split("\n")] == plain.split("\n")


def width(text: str) -> int:
    """Cells of text without tabs and controls, as a terminal counts them."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return wide + sum(unicodedata.category(c) not in ("Mn", "Me", "Cf") for c in text)


@settings(max_examples=100, deadline=None)
@given(st.text("ab é温\té\u0301ｱ🚀", min_size=1, max_size=30), st.data())
def test_carets_stand_under_what_they_mark(line: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(line) - 1))
    end = data.draw(st.integers(start + 1, len(line)))
    place = Place("a.yaml", 1, start + 1, 1, end + 1)
    report = replace(report_of(replace(vacuous(), places=(place,))), sources={"a.yaml": f"{line}|\n"})
    lines = render("text", report, width=400).split("\n")
    before, marked = expanded(line[:start]), expanded(line[:end])
    source, carets = (text.removeprefix(gutter) for text, gutter in zip(lines[3:5], ("1 | ", "  | "), strict=True))
    assert source == f"{expanded(line)}|"
    assert carets == " " * width(before) + "^" * max(1, width(marked) - width(before))


def expanded(line: str) -> str:
    """Tabs as the spaces to the next multiple of four cells."""
    text = ""
    for character in line:
        text += " " * (4 - width(text) % 4) if character == "\t" else character
    return text


@pytest.mark.slow
@settings(max_examples=few(25), deadline=None)
@given(reports(), st.booleans(), st.integers(0, 120))
def test_no_report_breaks_it_and_no_control_character_passes(report: Report, verbose: bool, columns: int) -> None:
    text = render("text", report, verbose=verbose, width=columns)
    assert not [c for c in text if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") and c != "\n"]
    assert not set(text) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
    assert text.encode("utf-8")
    assert text.split("\n")[-2].startswith("Checked ")


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 40), st.fractions(0, 100))
def test_every_step_is_shown_or_counted(count: int, time: Fraction) -> None:
    steps = tuple(Step(time + n, f"event {n}!") for n in range(count))
    text = shown(replace(conflict(), evidence=Evidence(Grade.PROVED, "z3", steps)))
    hidden = re.search(r"\.\.\. (\d+) more", text)
    assert len(re.findall(r"event \d+!", text)) + (int(hidden[1]) if hidden else 0) == count


def test_the_conflict_of_a_lone_call_is_not_counted_as_none() -> None:
    accounting = Accounting(calls=1)
    *_, found, checked, end = render("text", replace(report_of(conflict()), accounting=accounting)).split("\n")
    assert (found, checked, end) == ("Found 1 error (1 conflict).", "Checked 1 call", "")


def test_a_pair_without_a_conflict_says_nothing_of_conflicts() -> None:
    accounting = Accounting(calls=1, limits=1, promises=1, safe=1)
    footer = render("text", replace(report_of(conflict()), accounting=accounting)).split("\n")[-2]
    assert footer == "Checked 1 call, 1 limit; 1 promise; 1 pair of policies: 1 safe"


def test_notes_and_undecided_answers_are_counted_apart() -> None:
    note = replace(conflict(), verdict=Verdict.NOTE, severity=Severity.INFO)
    unclear = replace(conflict(), verdict=Verdict.UNDECIDED, severity=Severity.INFO)
    lines = render("text", report_of(note, unclear)).split("\n")
    assert [line.split(": ")[1] for line in lines[:2]] == ["note[COH203]", "undecided[COH203]"]
    assert "Found 1 note, 1 undecided; nothing is decided." in lines


def test_severity_and_verdict_words() -> None:
    for severity in Severity:
        for verdict in Verdict:
            one = replace(conflict(), severity=severity, verdict=verdict)
            left_open = severity is Severity.INFO and verdict in (Verdict.UNDECIDED, Verdict.NOTE)
            head = "proved" if verdict is Verdict.PROVED else str(verdict if left_open else severity)
            assert shown(one, verbose=True).startswith(f"{head}[COH203]: ")
            assert f"= {verdict} (certain): " in shown(one, verbose=True)


def test_files_of_the_examples_have_the_places_they_name() -> None:
    for finding in everything().findings:
        for place in finding.places:
            assert place == NOWHERE.labelled(place.label) or place.line <= FILES[place.file].count("\n")


def test_a_proof_shows_what_it_assumes_without_being_asked() -> None:
    proved = replace(proof(), assumptions=("an eviction takes no time", "clocks agree"))
    assert "\n  = assumes: an eviction takes no time; clocks agree\n" in render("text", report_of(proved))
    for name in ("concise", "markdown", "github"):
        assert "(assumes: an eviction takes no time; clocks agree)" in render(name, report_of(proved))
    assert "  = assumes" not in render("text", report_of(replace(proof(), assumptions=())))


def test_a_report_in_which_all_is_open_says_that_nothing_is_decided() -> None:
    taken_back = replace(proof(), verdict=Verdict.UNDECIDED, evidence=Evidence(Grade.BOUNDED, "not decided"))
    assert "Found 1 undecided; nothing is decided." in render("text", report_of(taken_back))
    assert "Found 1 undecided, 1 proved." in render("text", report_of(taken_back, proof()))
