"""Proofs that fall, or say what they leave out, where something that touches them was not read."""

from __future__ import annotations

import pytest

from coherence.checking.design_check import analyse
from coherence.findings.finding import Evidence, Finding, Grade, NotRead, Severity, Verdict
from coherence.findings.standing_proofs import standing
from coherence.language.leaves import leaves
from coherence.language.reading import read_text

DESIGN = """coherence: 1
components: {web: {load: pool.size / 2}}
loops:
  a: {trigger: web.load > 3, actuation: {signal: web.count, law: step, by: 1, bounds: [0, 9]}}
  b: {trigger: job.idle > 3, actuation: {signal: pool.size, law: step, by: 1, bounds: [0, 9]}}
  c: {trigger: job.idle > 3, actuation: {evict: web}}
limits: {slots: {counts: web.count, at_most: 5}}
timers:
  late: {from: web starts, after: 9 s, then: job ends}
  next: {from: job ends, after: 9 s, then: other}
promises: {few: always web.count <= 9, some: eventually web.count >= 5}
infrastructure: {tiers: {web: {count: 1}}, boundaries: {vm: {around: [web]}}}
"""
HOSTS = """coherence: 1
components:
  gw: {runs_on: near, takes: {serve: 1 s}}
  llm: {runs_on: far, takes: {serve: 5 s}}
calls:
  - {from: client, to: gw, deadline: 20 s}
  - {from: gw, to: llm, deadline: 15 s}
"""


def proof(*of: str, code: str = "COH205") -> Finding:
    return Finding(code, "", Verdict.PROVED, Severity.INFO, "it holds", (), of, Evidence(Grade.PROVED, "exact"))


def weighed(finding: Finding, *unread: str) -> Finding:
    design = read_text(DESIGN)
    lines = [
        NotRead(leaf.place, leaf.section, leaf.entry, leaf.key, "no question")
        for leaf in leaves(design) if f"{leaf.section}.{leaf.entry}" in unread
    ]  # fmt: skip
    assert lines or not unread
    return standing(design, [finding], lines)[0]


def test_a_proof_stands_where_all_that_touches_it_was_read() -> None:
    assert weighed(proof("a")) == proof("a")
    assert weighed(proof("a"), "timers.late", "timers.next") == proof("a")


def test_an_unread_boundary_limit_or_writer_takes_a_proof_back() -> None:
    for entry in ("boundaries.vm", "limits.slots", "loops.b"):
        fallen = weighed(proof("a", code="COH301"), entry)
        assert (fallen.verdict, fallen.evidence.grade) == (Verdict.UNDECIDED, Grade.BOUNDED)
        assert entry in fallen.message
        assert fallen.places[-1].label == "not read"
    assert weighed(proof("next"), "timers.late").verdict is Verdict.UNDECIDED
    assert weighed(proof("late"), "timers.next").verdict is Verdict.PROVED


def test_a_timer_that_starts_an_activity_leaves_proofs_that_count_from_its_start() -> None:
    text = (
        "coherence: 1\ncomponents: {redis: {takes: {sync: 1 s .. 40 s}}}\ntimers:\n"
        "  late: {from: replica asks, after: 5 s, then: redis.sync starts}\n"
        "  cap: {from: redis.sync starts, after: 60 s, unless: redis.sync ends, then: drop replica}\n"
    )
    answers = analyse(read_text(text, "d"), {"d": text}, lambda sources: read_text(sources["d"], "d"))
    assert [(finding.code, finding.verdict) for finding in answers.findings] == [("COH207", Verdict.PROVED)]


def test_what_can_only_take_runs_away_is_named_and_the_proof_stands() -> None:
    stood = weighed(proof("a", "few"), "limits.slots", "loops.c")
    assert stood.verdict is Verdict.PROVED
    assert [text.partition(" ")[0] for text in stood.assumptions] == ["loops.c", "limits.slots"]
    assert weighed(proof("a", "some"), "limits.slots").verdict is Verdict.UNDECIDED


def test_a_proof_about_a_loop_that_never_acts_is_vacuous() -> None:
    text = (
        "coherence: 1\ncomponents: {node: {cpu: 16}}\nloops:\n"
        "  up:   {trigger: pods.pending > 0, actuation: {signal: pool.size, law: step, by: 1, bounds: [4, 12]}}\n"
        "  down: {trigger: node.cpu < 50 % for 10 min,\n"
        "         actuation: {signal: pool.size, law: step, by: -1, bounds: [4, 12]}}\n"
    )
    answers = analyse(read_text(text, "d"), {"d": text}, lambda sources: read_text(sources["d"], "d"))
    verdicts = {finding.code: finding.verdict for finding in answers.findings if finding.verdict is not Verdict.NOTE}
    assert verdicts == {"COH105": Verdict.VACUOUS, "COH230": Verdict.VACUOUS}
    assert (answers.accounting.safe, answers.accounting.undecided) == (0, 1)


BURSTS = """coherence: 1
workload:
  chat: {rate: 110 req/s, burst: {rate: 940 req/s, lasts: 200 s, every: 10 min}}
components:
  pool: {rate_per_replica: 10 req/s, load: chat.attempts / (pool.size * rate_per_replica)}
loops:
  scaler:
    timescale: {period: 10 s}
    trigger: pool.load > 50 %
    actuation: {signal: pool.size, by: 1, bounds: [20, 30], from: 20}
promises: {room: always pool.load <= 80 %}
"""
SWITCHES = "arrivals: {switches: [{rate: 110 req/s, lasts: 1 min}, {rate: 900 req/s, lasts: 1 min}]}"


@pytest.mark.parametrize("varied", ["burst: {rate: 940 req/s, lasts: 200 s, every: 10 min}", SWITCHES])
def test_a_promise_about_a_rate_is_not_proved_over_a_burst_that_nobody_reads(varied: str) -> None:
    text = BURSTS.replace("burst: {rate: 940 req/s, lasts: 200 s, every: 10 min}", varied)
    answers = analyse(read_text(text, "d"), {"d": text}, lambda sources: read_text(sources["d"], "d"))
    verdicts = {finding.code: finding for finding in answers.findings}
    assert verdicts["COH220"].verdict is Verdict.UNDECIDED
    assert "workload.chat." in verdicts["COH220"].message
    assert verdicts["COH301"].verdict is Verdict.PROVED
    assert verdicts["COH301"].assumptions[-1].endswith("is not read; the rate stays as it is stated")


@pytest.mark.parametrize(
    ("infrastructure", "undecided"),
    [
        ("boundaries: {wan: {kind: environment, around: [far], added_delay: 30 s}}", 2),
        ("links: [{ends: [near, far], latency: 30 s}]", 2),
        ("links: [{ends: [gw, llm], latency: 30 s}]", 2),
        ("boundaries: {wan: {kind: environment, around: [near], added_delay: 30 s}}", 2),
        ("links: [{ends: [far, spare], latency: 30 s}]", 0),
        ("boundaries: {wan: {kind: environment, around: [spare], added_delay: 30 s}}", 0),
    ],
)
def test_calls_are_touched_by_what_stands_around_and_between_the_tiers_that_they_run_on(
    infrastructure: str, undecided: int
) -> None:
    text = (
        f"{HOSTS}infrastructure: {{tiers: {{near: {{count: 1}}, far: {{count: 1}}, spare: {{}}}}, {infrastructure}}}\n"
    )
    answers = analyse(read_text(text, "d"), {"d": text}, lambda sources: read_text(sources["d"], "d"))
    verdicts = [finding.verdict for finding in answers.findings]
    assert (verdicts.count(Verdict.UNDECIDED), verdicts.count(Verdict.PROVED)) == (undecided, 2 - undecided)
