"""Suppression comments: with a reason they silence, without one they say so, and unused ones are findings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coherence.base.places import Place
from coherence.checking.reports import report
from coherence.checking.workspace import open_workspace
from coherence.findings.finding import Evidence, Finding, Grade, Report, Severity, Verdict
from coherence.findings.suppressions import apply, comments, read

CALL = "  - {from: app, to: api, deadline: 10 s, per_try: 5 s, tries: 4, retry_when: [timeout]}"
TODAY = "2026-06-01"


def design(*, above: str = "", after: str = "") -> str:
    """A design with one conflict (COH201), and a comment above or behind its line."""
    lines = f"{above}\n{CALL}" if above else CALL
    return f"coherence: 1\ncalls:\n{lines}{'  ' + after if after else ''}\n"


def checked(tmp_path: Path, text: str, *, select: tuple[str, ...] = (), ignore: tuple[str, ...] = ()) -> Report:
    """The report on the text."""
    path = tmp_path / "d.yaml"
    path.write_text(text)
    return report(open_workspace([path]), select=select, ignore=ignore, today=TODAY, verify_repairs=False)


def codes(found: Report) -> list[str]:
    """Codes of what is loud: conflicts, and findings about suppressions."""
    return [f.code for f in found.findings if f.verdict is Verdict.CONFLICT or f.code < "COH2"]


@pytest.mark.parametrize(
    ("comment", "loud", "silenced"),
    [
        ("# coherence: ignore[COH201] -- known since May", [], 1),
        ("#coherence:ignore[COH201]--known", [], 1),
        ("# coherence: ignore[COH203, COH201] -- known", [], 1),
        ("# coherence: ignore[COH201] until=2026-06-01 owner=sre -- last day", [], 1),
        ("# coherence: ignore[COH201] until=2026-05-31 -- over", ["COH104", "COH201"], 0),
        ("# coherence: ignore[COH201]", ["COH103", "COH201"], 0),
        ("# coherence: ignore[COH201] --", ["COH103", "COH201"], 0),
        ("# coherence: ignore -- everything", ["COH103", "COH201"], 0),
        ("# coherence: ignore[COH2] -- a family", ["COH103", "COH201"], 0),
        ("# coherence: ignore[COH201] until=next-week -- no date", ["COH103", "COH201"], 0),
        ("# coherence: ignore[COH201] until=31/12/2026 -- no date", ["COH103", "COH201"], 0),
        ("# coherence: ignore[COH203] -- another", ["COH102", "COH201"], 0),
        ("# coherence is good", ["COH201"], 0),
    ],
)
@pytest.mark.parametrize("where", ["above", "after"])
def test_a_comment_speaks_of_its_line(tmp_path: Path, where: str, comment: str, loud: list[str], silenced: int) -> None:
    text = design(above="  " + comment) if where == "above" else design(after=comment)
    found = checked(tmp_path, text)
    assert sorted(codes(found)) == loud
    assert len(found.suppressed) == silenced


def test_a_comment_elsewhere_does_not_silence(tmp_path: Path) -> None:
    text = "# coherence: ignore[COH201] -- far away\n\n" + design()
    assert sorted(codes(checked(tmp_path, text))) == ["COH102", "COH201"]


def test_comments_may_be_stacked(tmp_path: Path) -> None:
    above = "  # coherence: ignore[COH201] -- one\n  # more words\n  # coherence: ignore[COH203] -- two"
    found = checked(tmp_path, design(above=above))
    assert codes(found) == ["COH102"]
    assert [f.places[0].line for f in found.findings if f.code == "COH102"] == [5]


def test_two_comments_on_one_finding_are_both_used(tmp_path: Path) -> None:
    mark = "# coherence: ignore[COH201] -- known"
    assert codes(checked(tmp_path, design(above="  " + mark, after=mark))) == []


@pytest.mark.parametrize(
    ("select", "ignore", "expected"),
    [
        (("COH3",), (), []),
        (("COH1", "COH201"), (), ["COH201"]),
        (("COH203",), (), []),
        ((), ("COH102",), ["COH201"]),
        ((), ("COH203",), ["COH201"]),
    ],
)
def test_an_unasked_code_is_not_called_unused(
    tmp_path: Path, select: tuple[str, ...], ignore: tuple[str, ...], expected: list[str]
) -> None:
    text = design(after="# coherence: ignore[COH203] -- another")
    found = checked(tmp_path, text, select=select, ignore=ignore)
    assert codes(found) == expected


def test_proofs_are_not_silenced() -> None:
    place = Place("f", 1, 1, 1, 2)
    proof = Finding(
        "COH201", "x", Verdict.PROVED, Severity.INFO, "m", (place,), ("a",), Evidence(Grade.PROVED, "arithmetic")
    )
    kept, silenced = apply({"f": "a # coherence: ignore[COH201] -- why"}, [proof], TODAY, lambda _: True)
    assert (kept[0], silenced) == (proof, ())
    assert [f.code for f in kept[1:]] == ["COH102"]


def test_dates_do_not_count_without_a_today() -> None:
    kept, _ = apply({"f": "# coherence: ignore[COH201] until=2001-01-01 -- why"}, [], "", lambda _: True)
    assert [f.code for f in kept] == ["COH102"]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.sampled_from(["# coherence: ignore[COH201] -- x", "a: 1", "", "  # note", "b: 2 # coherence: ignore"]))
)
def test_every_comment_is_placed_on_its_line(lines: list[str]) -> None:
    found = list(comments({"f": "\n".join(lines)}))
    assert [place.line for place, _, _ in found] == [
        n for n, line in enumerate(lines, 1) if "coherence: ignore" in line
    ]
    assert all(last >= place.line for place, _, last in found)


@given(st.text(max_size=40))
def test_any_words_are_a_suppression_or_malformed(body: str) -> None:
    place = Place("f", 3, 1, 3, 2)
    one = read(place, body, until_line=4)
    wanted: Callable[[str], bool] = bool
    assert one is None or (one.reason and one.codes and one.lines == {3, 4})
    assert apply({}, [], TODAY, wanted) == ((), ())
