"""Breakers of calls: what opens them, as the run has it, and what is refused."""

from __future__ import annotations

import pytest

from coherence.base.errors import InputError
from coherence.checking.design_check import analyse
from coherence.language.reading import read_text
from coherence.simulate.processes import processes
from coherence.simulate.requests.program import OpeningBreaker
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting

CALL = """\
coherence: 1
workload: {web: {rate: 20 req/s, service: {mean: 100 ms, cv: 1}}}
components: {s: {copies: 1}}
calls: [{from: web, to: s, per_try: 1 s, on_timeout: cancel, breaker: BREAKER}]
"""


def opening(breaker: str) -> OpeningBreaker | None:
    (route,) = processes(read_text(CALL.replace("BREAKER", breaker), "d.yaml")).program.routes
    return route.opening


@pytest.mark.parametrize(
    ("breaker", "rules"),
    [
        ("{failures: 5, open_for: 30 s}", OpeningBreaker(1.0, 5, 5, 30.0)),
        ("{share: 50 %, last: 100, open_for: 1 min}", OpeningBreaker(0.5, 100, 100, 60.0)),
        ("{share: 50 %, last: 9, at_least: 4, open_for: 0 s, trials: 3}", OpeningBreaker(0.5, 9, 4, 0.0, 3)),
    ],
)
def test_a_breaker_has_the_rules_that_are_stated(breaker: str, rules: OpeningBreaker) -> None:
    assert opening(breaker) == rules


@pytest.mark.parametrize(
    ("breaker", "words"),
    [
        ("{open_for: 30 s}", "nothing says what opens the breaker of web -> s"),
        ("{share: 50 %, open_for: 30 s}", "nothing says what opens the breaker of web -> s"),
        ("{failures: 5, last: 9, open_for: 30 s}", "`last` of the breaker of web -> s goes with a share"),
        ("{share: 120 %, last: 9, open_for: 30 s}", "'120 %' is above 1"),
        ("{share: 0 %, last: 9, open_for: 30 s}", "opens at a share of 0 %"),
        ("{failures: 1000000000, open_for: 30 s}", "more than a run remembers"),
    ],
)
def test_a_breaker_that_says_too_little_or_too_much_is_refused(breaker: str, words: str) -> None:
    with pytest.raises(InputError) as refused:
        opening(breaker)
    assert words in str(refused.value)
    assert "d.yaml:4" in str(refused.value)


def test_a_run_tells_the_share_of_tries_that_fail_at_the_open_breaker() -> None:
    text = CALL.replace("BREAKER", "{failures: 5, open_for: 30 s}")
    broken = study(read_text(text, "d.yaml"), Setting(300.0, seeds=(1, 2)))
    plain = study(read_text(text.replace(", breaker: {failures: 5, open_for: 30 s}", ""), "d.yaml"), Setting(300.0))
    assert "fail at the open breaker" in {reading.what for reading in broken.readings}
    assert not any("breaker" in reading.what for reading in plain.readings)


def test_questions_that_do_not_read_a_breaker_say_so() -> None:
    text = CALL.replace("BREAKER", "{failures: 5, open_for: 30 s}")
    design = read_text(text, "d.yaml")
    not_read = " ".join(map(str, analyse(design, {"d.yaml": text}, lambda _: design, verify_repairs=False).not_read))
    assert "breaker.failures" in not_read
    assert "breaker.open_for" in not_read
