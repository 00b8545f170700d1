"""Settings that are offered hold under exact execution; those that do not are not offered."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from coherence.checking.workspace import Entry, open_workspace
from coherence.findings import repairs
from coherence.findings.question_input import Subject
from coherence.loops.analysis.design_analysis import analysed
from coherence.loops.analysis.retuning import Retuning, SafeSetting, _first_safe, retuned, settles
from coherence.loops.designs.feedback_groups import Deadline
from coherence.model.elaborate import elaborate

LAG = """\
coherence: 1
components: {{web: {{load: {load}, usage: load / desired}}}}
loops:
  hpa:
    timescale: {{period: 15 s}}
    target: {{signal: "delayed(web.usage, {delay} s)", setpoint: 0.5, tolerance: {tolerance}}}
    actuation: {{signal: web.desired, law: proportional, bounds: [1, 1000], from: 120}}
"""


def retunings(tmp_path: Path, text: str) -> tuple[Entry, tuple[Retuning, ...]]:
    file = tmp_path / "design.yaml"
    file.write_text(text, encoding="utf-8")
    (entry,) = open_workspace([file]).entries
    subject = Subject(entry.design, entry.sources)
    (group,) = analysed(subject.model).groups
    return entry, retuned(group, subject, entry.rebuild, Deadline(60.0))


def test_a_hold_down_of_the_delay_mends_the_autoscaler(tmp_path: Path) -> None:
    entry, tunings = retunings(tmp_path, LAG.format(load=100, delay=15, tolerance="10 %"))
    by_what = {tuning.what: tuning for tuning in tunings}
    assert by_what["hold_down"].value == 15
    for tuning in tunings:
        if tuning.repair is not None:
            sources = repairs.apply(tuning.repair.edits, entry.sources)
            assert sources is not None
            assert settles(elaborate(entry.rebuild(sources)), Deadline(30.0))
            assert tuning.repair.verified.startswith("re-checked")
    assert by_what["hold_down"].repair is not None


def test_a_safe_setting_says_that_runs_confirm_it_and_how_far_they_went(tmp_path: Path) -> None:
    _, tunings = retunings(tmp_path, LAG.format(load=100, delay=15, tolerance="10 %"))
    text = next(tuning.text for tuning in tunings if tuning.what == "hold_down")
    assert text.startswith("hpa: smallest safe hold-down of those that were run 15 s, and one step more (re-checked by")
    assert text.endswith("[simulated]")


def test_of_settings_the_first_safe_one_counts_whose_next_is_safe_too() -> None:
    answers = {1: None, 2: True, 3: False, 4: None, 5: True, 6: True}
    settings = [Fraction(number) for number in answers]

    def first(numbers: list[Fraction]) -> SafeSetting | None:
        return _first_safe(numbers, lambda number: answers[int(number)], Deadline(60.0))

    assert first(settings) == SafeSetting(Fraction(5), 2, last=False)
    assert first(settings[:5]) == SafeSetting(Fraction(5), 2, last=True)
    assert first(settings[:4]) is None


def test_the_value_before_the_smallest_safe_one_is_not_safe(tmp_path: Path) -> None:
    entry, tunings = retunings(tmp_path, LAG.format(load=100, delay=30, tolerance="10 %"))
    smallest = next(tuning for tuning in tunings if tuning.what == "hold_down").value
    assert isinstance(smallest, Fraction)
    text = next(iter(entry.sources.values()))
    for window in range(0, int(smallest), 15):
        changed = text.replace("period: 15 s", f"period: 15 s, hold_down: {window} s")
        assert settles(elaborate(entry.rebuild({next(iter(entry.sources)): changed})), Deadline(30.0)) is False


def test_the_largest_safe_factor_is_told_as_linearised(tmp_path: Path) -> None:
    _, tunings = retunings(tmp_path, LAG.format(load=100, delay=15, tolerance="10 %"))
    gain = next(tuning for tuning in tunings if tuning.what == "gain")
    assert "linearised" in gain.text
    assert gain.repair is None


@pytest.mark.slow
def test_the_nearest_constants_of_a_declared_range_are_offered(tmp_path: Path) -> None:
    text = LAG.format(load=100, delay=15, tolerance="10 %").replace(
        "delayed(web.usage, 15 s)", "delayed(web.usage, 15 s) * web.share + (1 - web.share) * 0.5"
    ).replace("load: 100,", "load: 100, share: 0.2 .. 1,")  # fmt: skip
    entry, tunings = retunings(tmp_path, text)
    (nearest,) = [tuning for tuning in tunings if tuning.what == "constants"]  # at the upper end of the range it swings
    assert nearest.repair is not None
    sources = repairs.apply(nearest.repair.edits, entry.sources)
    assert sources is not None
    assert settles(elaborate(entry.rebuild(sources)), Deadline(30.0))
    assert "web.share = 0.2" in nearest.text


def test_what_settles_only_from_its_own_start_is_not_called_settled(tmp_path: Path) -> None:
    """A wide dead band holds the design's own start; from the ends of its bounds it swings."""
    text = LAG.format(load=100, delay=30, tolerance="5 %").replace("from: 120", "from: 200")
    file = tmp_path / "design.yaml"
    file.write_text(text, encoding="utf-8")
    (entry,) = open_workspace([file]).entries
    model = elaborate(entry.design)
    (group,) = analysed(model).groups
    assert group.verdict == "settles"
    assert group.from_bounds is not None
    assert group.from_bounds.verdict == "oscillates"
    assert settles(model, Deadline(30.0)) is False
