"""Proofs that fall, or say what they leave out, where something that touches them was not read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from coherence.checking.design_check import analyse
from coherence.findings.design_answers import Answers
from coherence.findings.finding import Evidence, Finding, Grade, NotRead, Severity, Verdict
from coherence.findings.question_input import Certificate
from coherence.findings.standing_proofs import Prover, overturning, standing
from coherence.language.entries.leaves import leaves
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
infrastructure: {tiers: {web: {count: 1}}, boundaries: {vm: {around: [web], added_delay: 1 s}, cell: {around: [web]}}}
"""
HOSTS = """coherence: 1
components:
  gw: {runs_on: near, takes: {serve: 1 s}}
  llm: {runs_on: far, takes: {serve: 5 s}}
calls:
  - {from: client, to: gw, deadline: 20 s}
  - {from: gw, to: llm, deadline: 15 s}
"""


def answered(text: str, select: Sequence[str] = ()) -> Answers:
    """Returns the answers about a design; no test here looks at repairs."""
    return analyse(
        read_text(text, "d"), {"d": text}, lambda sources: read_text(sources["d"], "d"), select=select,
        verify_repairs=False,
    )  # fmt: skip


def proof(*of: str, code: str = "COH205") -> Finding:
    evidence = Evidence(Grade.PROVED, "exact", certificate=Certificate().script())
    return Finding(code, "", Verdict.PROVED, Severity.INFO, "it holds", (), of, evidence)


def weighed(finding: Finding, *unread: str, regardless: frozenset[str] = frozenset(), design: str = DESIGN) -> Finding:
    """The finding, where its question has read all values but those of some entries (`boundaries.vm`)."""
    read_design = read_text(design)
    every = list(leaves(read_design))
    missing = [leaf for leaf in every if f"{leaf.section}.{leaf.entry}.{leaf.key}".startswith(unread)] if unread else []
    assert missing or not unread
    read = frozenset(leaf.place for leaf in every) - {leaf.place for leaf in missing}
    return standing(read_design, [finding], {finding.code: Prover(read, regardless)})[0]


def test_a_proof_that_nobody_can_check_again_is_undecided() -> None:
    bare = replace(proof("late"), evidence=Evidence(Grade.PROVED, "exact"))
    (answer,) = standing(read_text(DESIGN), [bare], {})
    assert answer.verdict is Verdict.UNDECIDED
    assert "needs a certificate" in answer.message


def test_a_proof_stands_where_all_that_touches_it_was_read() -> None:
    assert weighed(proof("a")) == proof("a")
    assert weighed(proof("a"), "timers.late", "timers.next") == proof("a")


def test_an_unread_boundary_limit_or_writer_takes_a_proof_back() -> None:
    for entry in ("boundaries.vm", "limits.slots", "loops.b"):
        fallen = weighed(proof("a", code="COH301"), entry)
        assert (fallen.verdict, fallen.evidence.grade) == (Verdict.UNDECIDED, Grade.BOUNDED)
        assert f"{entry}.added_delay" in fallen.message or f"{entry} changes, which COH301" in fallen.message
        assert fallen.places[-1].label == "not read"
    assert weighed(proof("next"), "timers.late").verdict is Verdict.UNDECIDED
    assert weighed(proof("late"), "timers.next").verdict is Verdict.PROVED


def test_a_boundary_that_says_nothing_of_what_it_does_takes_no_proof_back() -> None:
    assert weighed(proof("a", code="COH301"), "boundaries.cell") == proof("a", code="COH301")


def test_a_proof_of_another_question_does_not_lend_its_reading() -> None:
    design = read_text(DESIGN)
    every = frozenset(leaf.place for leaf in leaves(design))
    readers = {"COH211": Prover(every), "COH301": Prover(frozenset())}
    own, other = standing(design, [proof("a", code="COH211"), proof("a", code="COH301")], readers)
    assert (own.verdict, other.verdict) == (Verdict.PROVED, Verdict.UNDECIDED)


def test_a_proof_that_holds_for_every_delay_says_so_and_stands() -> None:
    stood = weighed(proof("a", code="COH211"), "boundaries.vm", regardless=frozenset({"time"}))
    assert stood.verdict is Verdict.PROVED
    assert stood.assumptions == ("this holds whatever boundaries.vm.added_delay says",)


LIVES = """coherence: 1
components: {web: {copies: 4, takes: {serve: 1 s, end: 30 s, start: 9 s}}}
loops:
  out: {trigger: web.load > 3, timescale: {period: 5 s}, actuation: {evict: web}}
  up: {trigger: web.load > 3, actuation: {signal: web.desired, law: step, by: 1, bounds: [1, 9]}}
jobs: {a: {needs: 4 gpu, leaves_after: 60 s}}
"""


@pytest.mark.parametrize(
    ("of", "unread", "verdict"),
    [
        ("out", "components.web.takes.end", Verdict.UNDECIDED),
        ("out", "components.web.takes.start", Verdict.PROVED),
        ("out", "components.web.takes.serve", Verdict.PROVED),
        ("up", "components.web.takes.start", Verdict.UNDECIDED),
        ("up", "components.web.takes.end", Verdict.PROVED),
        ("a", "jobs.a.leaves_after", Verdict.UNDECIDED),
    ],
)
def test_an_unread_time_of_a_member_or_job_takes_back_a_proof_about_who_comes_and_goes(
    of: str, unread: str, verdict: Verdict
) -> None:
    assert weighed(proof(of, code="COH226"), unread, design=LIVES).verdict is verdict


def test_an_eviction_that_takes_time_is_not_proved_to_come_to_rest() -> None:
    text = """coherence: 1
components: {web: {copies: 12, returns: always, takes: {end: 30 s}}}
places: {node: {count: 3}}
placement: {web: [spread by node <= 1]}
loops:
  out:
    timescale: {period: 5 min}
    trigger: count of web by node > ceil(web.copies / node.count)
    actuation: {evict: web}
"""
    at_once = text.replace(", takes: {end: 30 s}", "")
    verdicts = [{f.verdict for f in answered(t).findings if f.code == "COH226"} for t in (text, at_once)]
    assert verdicts == [{Verdict.UNDECIDED}, {Verdict.PROVED}]


def test_values_of_its_own_policies_that_no_question_reads_are_named_in_a_proof() -> None:
    design = read_text(HOSTS)
    lines = [NotRead(leaf.place, leaf.section, leaf.entry, leaf.key, "") for leaf in leaves(design)]
    named = [line for line in lines if line.path in ("calls.gw -> llm.deadline", "calls.client -> gw.deadline")]
    stood = standing(design, [proof("gw -> llm")], {"COH205": Prover(frozenset())}, named)[0]
    assert (stood.verdict, stood.assumptions) == (
        Verdict.PROVED, ("calls.gw -> llm.deadline is not read",),
    )  # fmt: skip


@pytest.mark.parametrize("select", [(), ("COH201",)])
def test_a_proof_is_taken_back_whatever_other_questions_are_chosen(select: tuple[str, ...]) -> None:
    wan = "infrastructure: {tiers: {far: {count: 1}}, boundaries: {wan: {around: [far], added_delay: 9 s}}}"
    text = f"{HOSTS}{wan}\n"
    answers = answered(text, select)
    assert {f.verdict for f in answers.findings if f.code == "COH201"} == {Verdict.UNDECIDED}


def test_a_timer_that_starts_an_activity_leaves_proofs_that_count_from_its_start() -> None:
    text = (
        "coherence: 1\ncomponents: {redis: {takes: {sync: 1 s .. 40 s}}}\ntimers:\n"
        "  late: {from: replica asks, after: 5 s, then: redis.sync starts}\n"
        "  cap: {from: redis.sync starts, after: 60 s, unless: redis.sync ends, then: drop replica}\n"
    )
    answers = answered(text)
    assert [(finding.code, finding.verdict) for finding in answers.findings] == [("COH207", Verdict.PROVED)]


def test_what_can_only_take_runs_away_is_named_and_the_proof_stands() -> None:
    stood = weighed(proof("a", "few"), "limits.slots", "loops.c")
    assert stood.verdict is Verdict.PROVED
    assert stood.assumptions == ("loops.c and limits.slots are not read; they can only take runs away",)
    assert weighed(proof("a", "some"), "limits.slots").verdict is Verdict.UNDECIDED


STOPS = """coherence: 1
components: {web: {copies: 4, load: users.rate}}
workload: {users: {rate: 9 req/s}}
loops: {up: {trigger: web.load > 3, actuation: {signal: web.desired, law: step, by: 1, bounds: [1, 9]}}}
jobs: {a: {needs: 4 gpu}}
limits: {quota: {counts: users.rate, at_most: 5}, spare: {counts: web.down, at_most: web.copies}}
timers:
  stop: {from: notice, after: 1 s, then: stop a}
  kill: {from: notice, after: 1 s, then: restart web}
  tell: {from: notice, after: 1 s, then: alert a}
"""


@pytest.mark.parametrize(
    ("of", "code", "unread", "verdict", "named"),
    [
        ("a", "COH225", "timers.stop", Verdict.UNDECIDED, ()),
        ("a", "COH225", "timers.tell", Verdict.PROVED, ()),
        ("web", "COH245", "timers.kill", Verdict.PROVED, ("timers.kill is not read; nothing is taken out by it",)),
        ("up", "COH301", "timers.kill", Verdict.PROVED, ("timers.kill is not read; nothing is taken out by it",)),
        ("users", "COH245", "limits.quota", Verdict.PROVED, ("limits.quota is not read; it can only take runs away",)),
        ("web", "COH245", "limits.quota", Verdict.PROVED, ("limits.quota is not read; it can only take runs away",)),
        ("web", "COH245", "loops.up", Verdict.PROVED, ()),
    ],
)
def test_what_stops_members_or_counts_what_a_thing_states_is_named_or_takes_a_proof_back(
    of: str, code: str, unread: str, verdict: Verdict, named: tuple[str, ...]
) -> None:
    stood = weighed(proof(of, code=code), unread, design=STOPS)
    assert (stood.verdict, stood.assumptions) == (verdict, named)


def test_a_proof_about_a_loop_that_never_acts_is_vacuous() -> None:
    text = (
        "coherence: 1\ncomponents: {node: {cpu: 16}}\nloops:\n"
        "  up:   {trigger: pods.pending > 0, actuation: {signal: pool.size, law: step, by: 1, bounds: [4, 12]}}\n"
        "  down: {trigger: node.cpu < 50 % for 10 min,\n"
        "         actuation: {signal: pool.size, law: step, by: -1, bounds: [4, 12]}}\n"
    )
    answers = answered(text)
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
BURST = "burst: {rate: 940 req/s, lasts: 200 s, every: 10 min}"
SWITCHES = "arrivals: {switches: [{rate: 110 req/s, lasts: 1 min}, {rate: 900 req/s, lasts: 1 min}]}"


@pytest.mark.parametrize(
    ("varied", "verdict", "says"),
    [
        ("burst: {rate: 940 req/s, lasts: 200 s, every: 10 min}", Verdict.CONFLICT, "again every 10 min for ever"),
        (SWITCHES, Verdict.UNDECIDED, "workload.chat."),
    ],
)
def test_a_promise_about_a_rate_is_not_proved_over_a_burst(varied: str, verdict: Verdict, says: str) -> None:
    text = BURSTS.replace("burst: {rate: 940 req/s, lasts: 200 s, every: 10 min}", varied)
    answers = answered(text)
    verdicts = {finding.code: finding for finding in answers.findings}
    assert verdicts["COH220"].verdict is verdict
    assert says in verdicts["COH220"].message
    assert verdicts["COH301"].verdict is Verdict.PROVED
    assert verdicts["COH301"].assumptions[-1].endswith("is not read; the rate stays as it is stated")


@pytest.mark.parametrize(
    ("infrastructure", "undecided"),
    [
        ("boundaries: {wan: {kind: environment, around: [far], added_delay: 30 s}}", 2),
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
    answers = answered(text)
    verdicts = [finding.verdict for finding in answers.findings]
    assert (verdicts.count(Verdict.UNDECIDED), verdicts.count(Verdict.PROVED)) == (undecided, 2 - undecided)


@pytest.mark.parametrize("ends", ["[near, far]", "[gw, llm]"])
def test_the_latency_of_a_link_between_the_tiers_of_a_call_is_in_its_time(ends: str) -> None:
    """The answer takes 5 s and the link 30 s of the 15 s that the caller waits; who waits for the caller is right."""
    link = f"links: [{{ends: {ends}, latency: 30 s}}]"
    text = f"{HOSTS}infrastructure: {{tiers: {{near: {{count: 1}}, far: {{count: 1}}}}, {link}}}\n"
    late, right = standing_answers(text, "COH201")
    assert (late.verdict, late.certainty, right.verdict) == (Verdict.CONFLICT, "certain", Verdict.PROVED)
    assert "llm needs 35 s to answer" in late.message


def standing_answers(text: str, code: str) -> list[Finding]:
    answers = answered(text)
    return [finding for finding in answers.findings if finding.code == code]


def test_a_timer_that_begins_an_activity_again_takes_back_a_proof_about_its_end() -> None:
    text = (
        "coherence: 1\ncomponents: {b: {takes: {drain: 5 s}}}\n"
        "timers: {grace: {from: b.drain starts, unless: b.drain ends, after: 6 s, then: kill b}, "
        "slow: {from: b.drain starts, after: 4 s, then: restart b.drain}}\n"
    )
    cut, fallen = standing_answers(text, "COH207")
    assert (fallen.verdict, cut.verdict) == (Verdict.UNDECIDED, Verdict.CONFLICT)
    assert "timers.slow" in fallen.message
    (stood,) = standing_answers(text.partition(", slow")[0] + "}\n", "COH207")
    assert stood.verdict is Verdict.PROVED


def test_a_timer_whose_words_name_a_signal_takes_back_a_promise_about_it() -> None:
    text = (
        "coherence: 1\ncomponents: {web: {load: 30, cpu: web.load / web.n}}\n"
        'loops: {hpa: {timescale: {period: 15 s}, actuation: {signal: web.n, to: "ceil(web.load / 7)", '
        "bounds: [1, 20], from: 1}}}\n"
        "timers: {back: {from: night falls, after: 1 min, then: set web.n 1}}\n"
        "promises: {calm: eventually_always web.cpu <= 8}\n"
    )
    (fallen,) = standing_answers(text, "COH220")
    assert fallen.verdict is Verdict.UNDECIDED
    assert "timers.back" in fallen.message


@pytest.mark.slow
def test_a_limit_tried_for_a_conflict_is_not_read_by_the_proof_beside_it() -> None:
    """The broken promise is asked again with the limit turning away; the kept one is asked without it."""
    loop = "{timescale: {period: 10 s}, trigger: q.a > 1, actuation: {signal: a.run, law: step, by: 1, bounds: [0, 3]}}"
    kept, broken = "kept: always a.run >= -1", "broken: always a.run <= -1"
    limit = "limits: {few: {counts: a.run, at_most: 1}}"
    text = f"coherence: 1\nloops: {{a: {loop}}}\n{limit}\npromises: {{{kept}, {broken}}}\n"
    (proved,) = (f for f in standing_answers(text, "COH220") if f.verdict is Verdict.PROVED)
    assert "limits.few is not read; it can only take runs away" in proved.assumptions


@pytest.mark.parametrize("full", ["", ", when_full: wait"])
def test_a_proof_about_a_call_names_a_limit_for_whose_places_it_waits(full: str) -> None:
    text = (
        "coherence: 1\ncomponents: {b: {takes: {answer: 1 s}}}\n"
        "calls: [{from: a, to: b, per_try: 2 s, tries: 2, deadline: 5 s, retry_when: [timeout], on_timeout: cancel}]\n"
        f"limits: {{room: {{counts: b.requests in flight, at_most: 1{full}}}}}\n"
    )
    stood = standing_answers(text, "COH201")
    assert {finding.verdict for finding in stood} == {Verdict.PROVED}
    assert all("limits.room is not read; no wait for a place in it is counted" in f.assumptions for f in stood)


@pytest.mark.parametrize("unread", ["boundaries.wall.noise", ""])
def test_what_may_overturn_that_loops_settle_is_what_takes_the_proof_back(unread: str) -> None:
    tank = """coherence: 1
infrastructure: {boundaries: {wall: {around: [tank], noise: 5 %}}}
components: {tank: {level: valve.open / 2}}
loops: {ctl: {inside: none, trigger: tank.level > 3, actuation: {signal: valve.open, law: step, by: 1}}}
"""
    every = list(leaves(read_text(tank)))
    read = frozenset(leaf.place for leaf in every if f"{leaf.section}.{leaf.entry}.{leaf.key}" != unread)
    influence = overturning(read_text(tank), ["ctl"], read)
    assert (influence.path if influence else "") == unread
