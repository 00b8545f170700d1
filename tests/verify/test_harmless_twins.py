"""Designs as a user writes them, each beside a harmless twin: what was once answered wrongly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

import pytest

from coherence.checking.design_check import analyse
from coherence.checking.repair.adjustable_numbers import adjustable_numbers
from coherence.checking.repair.nearest_repair import rounded
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.findings.repairs import apply
from coherence.language.reading import read_text

HEAD = "coherence: 1\n"


def found(text: str, code: str, *, repairing: bool = True) -> list[Finding]:
    """What one question says of a design."""
    asked = analyse(
        read_text(HEAD + text, "d"),
        {"d": HEAD + text},
        lambda s: read_text(s["d"], "d"),
        select=[code],
        verify_repairs=repairing,
    )
    return [f for f in asked.findings if f.code == code]


def verdicts(text: str, code: str) -> set[Verdict]:
    return {f.verdict for f in found(text, code, repairing=False)}


def repaired(finding: Finding, text: str) -> Iterator[str]:
    for one in finding.repairs:
        changed = apply(one.edits, {"d": HEAD + text})
        assert changed is not None
        yield changed["d"]


SHOP = """workload: {visitors: {rate: 300 req/s, service: {mean: 20 ms}}}
components: {web: {copies: 40, rate_per_replica: 30 req/s}, db: {copies: 3}}
calls:
  - {from: visitors, to: web, deadline: 1 s, on_timeout: cancel}
  - {from: web, to: db, deadline: 500 ms, on_timeout: cancel}
"""


def test_the_service_of_a_workload_is_not_the_time_of_whatever_is_called_last() -> None:
    assert not [f for f in found(SHOP, "COH245") if "db" in f.of]
    plain = SHOP.replace(", rate_per_replica: 30 req/s", "")
    assert Verdict.CONFLICT in verdicts(plain, "COH245"), "where one server is left, the service is its"
    two = plain + "  - {from: web, to: cart, deadline: 500 ms, on_timeout: cancel}\n"
    assert [f.of[0] for f in found(two, "COH245")] == ["web"], "how many requests the caller works on at once is asked"


GRACE = """components: {db: {takes: {failover: 20 s .. 50 s, drain: 5 s .. 20 s}}}
calls: [{from: cart, to: db, deadline: 700 ms, per_try: 300 ms, tries: 2, retry_when: [unavailable]}]
timers: {grace: {from: db.drain starts, after: 30 s, unless: db.drain ends, then: kill db}}
"""


def test_a_grace_after_a_drain_ends_no_work() -> None:
    assert not verdicts(GRACE, "COH218")
    assert verdicts(GRACE, "COH207") == {Verdict.PROVED}
    ends_work = GRACE.replace("db.drain starts", "db.answer starts").replace("unless: db.drain ends, ", "")
    ends_work = ends_work.replace("failover:", "answer:")
    assert verdicts(ends_work, "COH218") == {Verdict.CONFLICT}


@pytest.mark.parametrize(("longest", "times"), [(30, "1 to 2"), (45, "1 to 2"), (300, "1 to 10")])
def test_a_lease_that_ends_with_the_task_may_be_handed_out_once_more(longest: int, times: str) -> None:
    text = f"components: {{w: {{takes: {{task: 10 s .. {longest} s}}}}}}\ntimers: {{lease: {{from: w.task starts, after: 30 s, unless: w.task ends, then: redeliver}}}}\n"  # noqa: E501
    assert f"{times} times" in found(text, "COH207", repairing=False)[0].message


HELD = "components: {pool: {gpu: 6}, a: {copies: %s, needs: {gpu: 2}}}\n"


@pytest.mark.parametrize(
    ("text", "verdict", "certain"),
    [
        (HELD % "4", Verdict.CONFLICT, "certain"),
        (HELD % "1 .. 4", Verdict.CONFLICT, "possible"),
        ("places: {n1: {gpu: 8}, n2: {gpu: 8}}\ncomponents: {a: {copies: 5, needs: {gpu: 4}}}\n", Verdict.CONFLICT, ""),
        ("places: {n1: {gpu: 8}, n2: {gpu: 8}}\ncomponents: {a: {copies: 3, needs: {gpu: 4}, runs_on: n1}}\n",
         Verdict.CONFLICT, "certain"),
        ("places: {node: {count: 3, gpu: 8}}\ncomponents: {a: {copies: 7, needs: {gpu: 4}, runs_on: node}}\n",
         Verdict.CONFLICT, "certain"),
        ("infrastructure: {tiers: {h: {uses: h100_sxm, count: 8}}}\ncomponents: {a: {copies: 3, needs: {gpu: 4}, runs_on: h}}\n",  # noqa: E501
         Verdict.CONFLICT, "certain"),
    ],
)  # fmt: skip
def test_members_that_hold_more_than_there_is(text: str, verdict: Verdict, certain: str) -> None:
    one = found(text, "COH211")[0]
    assert one.verdict is verdict
    assert certain in one.certainty
    assert one.repairs
    for again in repaired(one, text):
        assert not found(again.removeprefix(HEAD), "COH211", repairing=False)


@pytest.mark.parametrize(
    "text",
    [
        HELD % "3",
        HELD % "1 .. 3",
        "components: {node: {copies: 8, gpu: 8}, a: {copies: 8, needs: {gpu: 8}, runs_on: node}}\n",
        "places: {n1: {gpu: 8}, n2: {gpu: 8}}\ncomponents: {a: {copies: 4, needs: {gpu: 4}}}\n",
        "places: {node: {count: 3, gpu: 8}}\ncomponents: {a: {copies: 6, needs: {gpu: 4}, runs_on: node}}\n",
        "components: {node: {memory: 16 GiB}, a: {copies: 5, needs: {memory: 4 GiB}}}\n",
        "components: {pool: {gpu: 6}}\njobs: {a: {needs: {gpu: 4}}, b: {needs: {gpu: 4}}}\n",
    ],
)
def test_members_that_fit_or_wait_for_their_turn(text: str) -> None:
    assert not verdicts(text, "COH211")


WINDOWS = """limits:
  day:   {counts: nodes.disrupted, at_most: 0, during: "0 6 * * * for 14 h"}
  night: {counts: nodes.disrupted, at_most: 0, during: "0 20 * * * for 10 h"}
loops: {consolidate: {trigger: nodes.underused for 1 min, actuation: {signal: nodes.disrupted, law: step, by: 1}}}
"""


def test_a_loop_that_no_longer_acts_is_no_repair_of_it() -> None:
    one = found(WINDOWS, "COH213")[0]
    assert one.repairs
    assert all("by: 1}" in text for text in repaired(one, WINDOWS))


RULES = """loops:
  l:
    timescale: {period: 10 s}
    rules:
      - {when: q.backlog > 10, by: 5}
      - {when: q.backlog > 20, by: 10}
    actuation: {signal: w.desired, bounds: [0, 40]}
"""


@pytest.mark.slow
def test_whole_thresholds_stay_whole() -> None:
    one = found(RULES, "COH213")[0]
    new = [edit.new for repair in one.repairs for edit in repair.edits]
    assert new
    assert all(re.fullmatch("[0-9]+", text) for text in new)


def test_what_is_asked_to_be_equal_is_no_setting() -> None:
    text = "loops: {a: {timescale: {period: 5 s}, trigger: job.running == 1 and job.age > 7, actuation: {signal: job.x, law: set, to: 0}}}\n"  # noqa: E501
    design = read_text(HEAD + text, "d")
    found_ = {k.value for k in adjustable_numbers(Subject(design, {"d": HEAD + text})) if k.key == "trigger"}
    assert found_ == {Fraction(7)}


@pytest.mark.parametrize(("value", "away", "plain"), [(51, 85, 50), (64, 50, 65), (79, 85, 79), (41, 20, 41)])
def test_numbers_are_rounded_to_those_that_a_person_writes(value: int, away: int, plain: int) -> None:
    assert rounded(Fraction(value), away_from=Fraction(away)) == plain


def test_a_loop_may_be_called_up() -> None:
    text = """loops:
  up: {timescale: {period: 30 s}, trigger: web.cpu > 60 %, actuation: {signal: web.desired, law: step, by: 1, bounds: [1, 20]}}
  down: {timescale: {period: 60 s}, trigger: not up and web.idle > 2, actuation: {signal: web.desired, law: step, by: -1, bounds: [1, 20]}}
"""  # noqa: E501
    assert verdicts(text, "COH230") == {Verdict.PROVED}


@pytest.mark.parametrize("then", ["send alert", "raise ticket", "page oncall", "open ticket"])
def test_an_alert_during_a_long_activity_ends_nothing(then: str) -> None:
    text = f"components: {{p: {{takes: {{load: 1 min .. 30 min}}}}}}\ntimers: {{t: {{from: p.load starts, after: 10 min, unless: p.load ends, then: {then}}}}}\n"  # noqa: E501
    assert Verdict.CONFLICT not in verdicts(text, "COH207")
    assert Verdict.CONFLICT in verdicts(text.replace(then, "send kill"), "COH207")


BACKUP = """components: {b: {takes: {dump: 5 min .. 12 min}}}
timers: {cron: {from: %s, after: 10 min, then: b.dump starts}}
"""


def test_a_timer_that_runs_from_its_own_last_firing_repeats() -> None:
    assert verdicts(BACKUP % "last cron", "COH246") == {Verdict.CONFLICT}
    assert not verdicts(BACKUP % "b.dump ends", "COH246")
    assert verdicts((BACKUP % "last cron").replace("after: 10 min", "after: 15 min"), "COH246") == {Verdict.PROVED}


HPA = """loops: {hpa: {uses: kubernetes_hpa, target: {signal: web.cpu, setpoint: 50 %%}, actuation: {signal: web.desired, bounds: [2, 5]}}}
promises: {p: %s}
"""  # noqa: E501


@pytest.mark.parametrize(
    ("promise", "verdict"),
    [
        ("eventually web.desired >= 6", Verdict.CONFLICT),
        ("eventually web.desired >= 5", Verdict.UNDECIDED),
        ("always web.desired <= 5", Verdict.PROVED),
        ("never web.desired > 5", Verdict.PROVED),
        ("always web.desired <= 4", Verdict.UNDECIDED),
        ("always web.desired >= 6", Verdict.UNDECIDED),
    ],
)
def test_what_the_bounds_alone_decide_needs_no_value_of_the_reading(promise: str, verdict: Verdict) -> None:
    assert verdicts(HPA % promise, "COH220") == {verdict}


def test_what_is_set_under_a_condition_may_begin_anywhere() -> None:
    text = "loops: {a: {trigger: web.cpu > 50 %, timescale: {period: 10 s}, actuation: {signal: web.desired, law: set, to: 5}}}\npromises: {p: always web.desired >= 5}\n"  # noqa: E501
    assert Verdict.PROVED not in verdicts(text, "COH220")


TWO_WAYS = """calls:
  - {from: a, to: b1, tries: 2, retry_when: [unavailable]}
  - {from: a, to: b2, tries: 2, retry_when: [unavailable]}
  - {from: b1, to: c, tries: 2, retry_when: [unavailable]}
  - {from: b2, to: c, tries: 2, retry_when: [unavailable]}
promises: {few: attempts(c) per call(a) <= 4}
"""


def test_sends_of_several_ways_are_told_as_a_sum_and_repaired_together() -> None:
    one = found(TWO_WAYS, "COH202")[0]
    assert "8 times to c (2 x 2 + 2 x 2)" in one.message
    assert one.repairs
    for again in repaired(one, TWO_WAYS):
        assert verdicts(again.removeprefix(HEAD), "COH202") == {Verdict.PROVED}
