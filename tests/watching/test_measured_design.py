"""Measured numbers move a design to where it breaks, and back."""

from __future__ import annotations

from collections.abc import Mapping

from coherence.exploring.swept_numbers import scalars
from coherence.language.reading import read_text
from coherence.watching.measured_design import measured_design
from coherence.watching.signals import watched_system

TEXT = """\
coherence: 1
workload: {web: {rate: 10 req/s, service: 100 ms, deadline: 2 s, entitlement: 4}}
components: {web: {takes: {serve: 200 ms}}}
calls:
  - {from: users, to: web, deadline: 2 s, per_try: 500 ms, tries: 3}
telemetry:
  web.rate: requests
  components.web.takes.serve: took
  calls.0.per_try: tried
"""


def test_a_number_is_moved_and_its_problem_comes_and_goes() -> None:
    design = measured_design({"d.yaml": TEXT}, watched_system(read_text(TEXT, "d.yaml"), "web"), 30.0)
    assert set(design.axes) == {"web.rate", "components.web.takes.serve", "calls.0.per_try"}
    texts: list[Mapping[str, str]] = []
    check = design.check

    def noted(moved: Mapping[str, str]) -> Mapping[str, str]:
        texts.append(moved)
        return check(moved)

    design.check = noted
    usual = design.problems({})
    slow = design.problems({"calls.0.per_try": 1.5})
    assert any(name.startswith("COH201") for name in set(slow) - set(usual))
    assert design.problems({"calls.0.per_try": 1.51}) is slow
    assert design.problems({"calls.0.per_try": 0.5}).keys() == usual.keys()
    assert len(texts) == 3
    assert "per_try: 1500 ms" in texts[1]["d.yaml"]


def test_values_that_make_no_design_are_a_problem_of_their_own() -> None:
    text = TEXT.replace("tries: 3", "tries: 3, pause: 100 ms").replace("calls.0.per_try: tried", "calls.0.tries: tried")
    design = measured_design({"d.yaml": text}, watched_system(read_text(text, "d.yaml"), "web"), 30.0)
    assert "design cannot be checked" in design.problems({"calls.0.tries": 1.3})


def test_a_number_is_checked_as_measured_and_again_where_it_has_left_that_by_a_tenth() -> None:
    rates: list[str] = []

    def over_the_cap(texts: Mapping[str, str]) -> Mapping[str, str]:
        rate = dict(scalars(texts))["workload.web.rate"].text.removesuffix(" req/s")
        rates.append(rate)
        return {"over": ""} if float(rate) > 92 else {}

    text = TEXT.replace("10 req/s", "92 req/s")
    design = measured_design({"d.yaml": text}, watched_system(read_text(text, "d.yaml"), "web"), 30.0)
    design.check = over_the_cap
    steps = [(92.0, 0), (100.0, 0), (92.4 * 1.1, 1), (92.4, 1), (92.3, 1), (81.0, 0), (92.4, 1), (92.0, 1)]
    seen = [len(design.problems({"web.rate": rate})) for rate, _ in steps]
    assert seen == [over for _, over in steps]
    assert rates == ["92", "101.64", "92.4", "81"]  # 92.4 is kept
    assert design.problems({}) == {}
    for amount in (0.0, float("inf")):
        assert design.problems({"web.rate": amount}) == {}


def test_the_mean_of_scrapes_that_are_the_written_value_is_that_value() -> None:
    for written in ("95", "0.3", "0.7", "1234.567"):
        text = TEXT.replace("10 req/s", f"{written} req/s")
        design = measured_design({"d.yaml": text}, watched_system(read_text(text, "d.yaml"), "web"), 30.0)
        moved: list[Mapping[str, str]] = []
        design.check = lambda texts, moved=moved: moved.append(texts) or {}  # type: ignore[misc]
        design.problems({"web.rate": sum([float(written)] * 240) / 240})
        assert moved == [{"d.yaml": text}]
