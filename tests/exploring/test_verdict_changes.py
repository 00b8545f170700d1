"""Which verdicts change between two designs, and which changed values make each change."""

from __future__ import annotations

from itertools import combinations

from coherence.base.watchdog import run_limit
from coherence.checking.design_check import Options, analysis
from coherence.checking.workspace import Entry, open_text
from coherence.exploring.verdict_changes import NOT_SOUGHT, DesignChanges, compared, root_of
from coherence.language.environments.differences import between
from coherence.language.reading import design_from_table

TEXT = """\
coherence: 1
components: {web: {copies: 2}, shop: {copies: 3, takes: {serve: 10 ms .. 20 ms}}}
calls:
  - {from: web, to: shop, deadline: 1 s, per_try: 300 ms, tries: 2}
"""
OPTIONS = Options(select=("COH201",), verify_repairs=False)


def entry(text: str) -> Entry:
    (only,) = open_text(text, "d").entries
    return only


def changed(text: str) -> DesignChanges:
    return compared(entry(TEXT), entry(text), OPTIONS)


def causes(answers: DesignChanges) -> list[list[list[str]]]:
    return [[[one.name for one in cause] for cause in change.causes] for change in answers.verdicts]


def test_a_value_that_suffices_alone_is_the_cause() -> None:
    answers = changed(TEXT.replace("300 ms", "800 ms").replace("copies: 3", "copies: 5"))
    assert causes(answers) == [[["calls.web -> shop.per_try"]]]
    assert [change.is_new_conflict for change in answers.verdicts] == [True]
    assert len(answers.differences) == 2


def test_values_that_do_it_only_together_are_one_cause() -> None:
    text = TEXT.replace("300 ms", "450 ms").replace("tries: 2", "tries: 3").replace("copies: 3", "copies: 5")
    assert causes(changed(text)) == [[["calls.web -> shop.per_try", "calls.web -> shop.tries"]]]


def test_each_cause_is_smallest_by_brute_force() -> None:
    text = TEXT.replace("300 ms", "450 ms").replace("tries: 2", "tries: 3")
    text = text.replace("deadline: 1 s", "deadline: 1300 ms")
    answers = changed(text)
    (change,) = answers.verdicts
    root = root_of(entry(TEXT))
    assert root is not None

    def breaks(chosen: tuple[object, ...]) -> bool:
        design = design_from_table(between(root, chosen), file="d", text=TEXT)  # type: ignore[arg-type]
        found = analysis(design, {"d": TEXT}, lambda _: design, options=OPTIONS).answers.findings
        return any(finding.verdict == "conflict" for finding in found)

    every = answers.differences
    sets = [own for size in range(len(every) + 1) for own in combinations(every, size) if breaks(own)]
    smallest = [own for own in sets if not any(set(other) < set(own) for other in sets)]
    assert [list(cause) for cause in change.causes] in [[list(own)] for own in smallest]


def test_the_way_back_has_the_same_causes_and_no_new_conflict() -> None:
    later = TEXT.replace("300 ms", "800 ms")
    answers = compared(entry(later), entry(TEXT), OPTIONS)
    assert causes(answers) == [[["calls.web -> shop.per_try"]]]
    assert not answers.verdicts[0].is_new_conflict


def test_other_words_of_one_verdict_are_figures_and_the_same_design_has_none() -> None:
    answers = changed(TEXT.replace("300 ms", "310 ms"))
    assert (answers.verdicts, len(answers.figures), answers.alike) == ((), 1, 1)
    same = changed(TEXT.replace("components:", "summary: another\ncomponents:"))
    assert (same.differences, same.verdicts, same.figures, same.alike) == ((), (), (), 2)


def test_without_time_causes_are_not_sought() -> None:
    with run_limit(0.0):
        answers = changed(TEXT.replace("300 ms", "800 ms").replace("copies: 3", "copies: 5"))
    assert {change.reason for change in answers.verdicts} <= {NOT_SOUGHT}


def test_an_entry_that_is_called_like_a_key_for_people_is_a_difference() -> None:
    before = f"{TEXT}timers: {{t: {{from: shop starts, every: 1 s, then: shop ends}}}}\n"
    later = before[:-2] + ", note: {from: shop starts, every: 1 s, then: shop ends, note: why}}\n"
    assert [one.name for one in compared(entry(before), entry(later), OPTIONS).differences] == ["timers.note"]
    noted = later.replace("note: why", "note: because")
    assert compared(entry(later), entry(noted), OPTIONS).differences == ()
