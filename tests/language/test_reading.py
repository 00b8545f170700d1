"""Reading a design: typed values with places, all mistakes at once, each with what to do about it."""

from __future__ import annotations

import os
import threading
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import InputError, Problem
from coherence.base.places import Place
from coherence.base.units import ONE, SECOND
from coherence.findings.repairs import text_at
from coherence.language import reading
from coherence.language.design import Design, Loop, Pause, Relay
from coherence.language.reading import is_design, read_bytes, read_design, read_text
from coherence.language.schema_kinds import Formula, Quantity, Word
from coherence.language.sentences import Event, Promise, event_of
from tests.paths import ROOT
from tests.strategies import problems_in, scraps

FULL = """\
coherence: 1
system: hpc_connected_serving
summary: Latency-sensitive inference on a batch-scheduled GPU cluster.
workload:
  requests:
    rate: 120 req/s
    burst: {rate: 480 req/s, lasts: 20 s, every: 10 min}
    service: {mean: 40 ms, cv: 1.0}
infrastructure:
  tiers:
    h100: {uses: h100_sxm, count: 64}
    l40s: {uses: l40s, count: 32}
  links:
    - {ends: [h100, l40s], uses: roce_400g, count: 8}
  boundaries:
    slices: {kind: virtualization, around: [l40s], uses: mig_1g_10gb}
components:
  gateway: {uses: queue, arrivals: requests.attempts, served_by: pool}
  pool:    {uses: replica_pool, runs_on: h100, takes: {start: 60 s .. 120 s}, rate_per_replica: 25 req/s}
  batch:   {uses: backlog, runs_on: h100}
claims: {h100: pool.desired + batch.running}
loops:
  autoscaler:
    uses: kubernetes_hpa
    layer: orchestration
    objective: match replicas to demand
    target:    {signal: gateway.utilization, setpoint: 70 %, tolerance: 10 %, sensor: [scrape 30 s, mean 1 min]}
    timescale: {period: 15 s, hold_down: 5 min}
    trigger:   always
    actuation: {signal: pool.desired, law: proportional, bounds: [4, 64]}
  backfill:
    layer: cluster
    objective: no idle accelerators
    target:    {signal: pool.idle, setpoint: 0}
    timescale: {period: 30 s}
    rules:
      - {when: gateway.backlog > 0, by: -20}
      - {when: pool.idle > 2 for 30 s, by: +5}
    actuation: {signal: batch.running, bounds: [0, 64]}
calls:
  - {from: requests, to: gateway, deadline: 1 s, per_try: 250 ms, tries: 3,
     pause: {base: 25 ms, cap: 100 ms, jitter: full}, retry_when: [timeout, unavailable],
     fails: {unavailable: 1 ms .. 5 ms}, on_timeout: abandon}
timers:
  liveness: {from: pool starts, first: 120 s, every: 10 s, misses: 3, unless: pool.start ends, then: restart pool}
limits:
  retry_budget: {counts: requests.retries in flight, at_most: 20 % of requests in flight, when_full: reject}
promises:
  tail: always quantile(gateway.latency, 0.99) <= 500 ms
  progress: after requests.accepted then requests.completed within 5 s
"""

HPA = """\
coherence: 1
loops:
  a: {uses: kubernetes_hpa,
      target: {signal: w.cpu, setpoint: 5}, actuation: {signal: w.n, bounds: [1, 9]}}
"""

MISTAKES = """\
coherence: 1
system: ten mistakes
workload: {requests: {rate: 120 rek/s}}
components:
  pool: {uses: replica_pol, takes: {start: 60}}
loops:
  autoscaler:
    layer: orchestratoin
    timescale: {perod: 15 s, hold_down: 5 min .. 1 min}
    trigger: pool.usage > 70 % and
    actuation: {signal: poool.desired, bounds: [4, 64]}
calls:
  - {from: requests, deadline: 1 s}
promises:
  tail: always pool.load + 3 s
"""


def read(text: str) -> Design:
    """The design in a text."""
    return read_text(text, "d.yaml")


def problems(text: str) -> tuple[Problem, ...]:
    """What is wrong with a design."""
    return problems_in(lambda: read(text))


def loop_of(text: str) -> Loop:
    """The only loop of a design whose loop `a` is written so."""
    return read(f"coherence: 1\nloops: {{a: {text}}}\n").loops["a"]


def test_the_example_of_the_language_is_read_whole() -> None:
    design = read(FULL)
    assert set(design.loops) == {"autoscaler", "backfill"}
    hpa = design.loops["autoscaler"]
    assert hpa.target is not None
    assert hpa.timescale is not None
    assert hpa.actuation is not None
    assert [(link.kind, link.duration and link.duration.low) for link in hpa.target.sensor] == [
        ("scrape", Fraction(30)),
        ("mean", Fraction(60)),
    ]
    assert hpa.timescale.hold_down == Quantity(Fraction(300), Fraction(300), SECOND, "5 min", hpa.place)
    assert [str(bound) for bound in hpa.actuation.bounds] == ["4", "64"]
    assert [str(rule.when) for rule in design.loops["backfill"].rules] == [
        "gateway.backlog > 0",
        "pool.idle > 2 for 30 s",
    ]
    call = design.calls[0]
    assert (call.name, [str(n) for n in call.tries]) == ("requests -> gateway", ["3"])
    assert isinstance(call.pause, Pause)
    assert call.fails is not None
    assert (call.fails["unavailable"].low, call.fails["unavailable"].high) == (Fraction(1, 1000), Fraction(1, 200))
    assert design.timers["liveness"].start == Event("starts", "pool", "", "pool starts", hpa.place)
    assert design.promises["progress"].kind == "response"
    assert design.infrastructure is not None
    assert [str(end) for end in design.infrastructure.links[0].ends] == ["h100", "l40s"]


def test_values_keep_line_and_column() -> None:
    design = read(FULL)
    sources = {"d.yaml": FULL}
    hpa, call = design.loops["autoscaler"], design.calls[0]
    assert hpa.target is not None
    assert hpa.target.setpoint is not None
    assert call.deadline is not None
    assert (str(hpa.place), str(hpa.target.setpoint.place), str(call.place)) == (
        "d.yaml:23:3",
        "d.yaml:27:56",
        "d.yaml:41:5",
    )
    for value in (hpa.target.setpoint, call.deadline, design.claims["h100"], design.promises["tail"]):
        assert isinstance(value, Quantity | Formula | Promise)
        assert text_at(sources, value.place) == value.text


def test_what_a_part_supplies_has_its_place_in_the_part() -> None:
    design = read(HPA)
    loop = design.loops["a"]
    assert loop.timescale is not None
    assert loop.target is not None
    period, setpoint = loop.timescale.period, loop.target.setpoint
    assert period is not None
    assert setpoint is not None
    assert (period.place.file, str(setpoint.place)) == ("models/loops/kubernetes_hpa.yaml", "d.yaml:4:41")
    text = (ROOT / period.place.file).read_text()
    assert text_at({period.place.file: text}, period.place) == "15 s" == period.text


def test_all_mistakes_come_at_once_each_with_place_value_and_remedy() -> None:
    found = problems(MISTAKES)
    told = [(f"{p.place.line}:{p.place.column}", p.message, p.remedy) for p in found]
    assert told == [
        ("3:29", "unknown unit 'rek'", "did you mean 'req'?"),
        ("5:16", "there is no part 'replica_pol' in models/components", "did you mean 'replica_pool'?"),
        ("5:44", "'60' is a bare number, a duration expected", "write for example 500 ms"),
        (
            "8:12",
            "'orchestratoin' is not one of cluster, orchestration, runtime, model, safety",
            "did you mean 'orchestration'?",
        ),
        ("9:17", "unknown key 'perod'", "did you mean 'period'?"),
        ("9:41", "'5 min .. 1 min' is empty: 5 min > 60 s", "write the smaller end first"),
        ("10:35", "a value expected, the end found in 'pool.usage > 70 % and'", "complete the expression"),
        ("11:25", "'poool' is not declared", "did you mean 'pool'?"),
        ("13:5", "the key 'to' is missing", "add `to: ...`"),
        ("15:9", "'pool.load + 3 s' is not a condition", "compare it with something, for example `<= 5 %`"),
    ]
    assert str(found[0]) == "d.yaml:3:29: unknown unit 'rek'\n  help: did you mean 'req'?"


@pytest.mark.parametrize(
    ("text", "words", "remedy"),
    [
        ("", "0 documents", "one document"),
        ("# only a comment\n", "0 documents", "one document"),
        ("coherence: 1\n---\ncoherence: 1\n", "2 documents", "one document"),
        ("3", "a design is a mapping", "begin with `coherence: 1`"),
        ("- coherence: 1", "a design is a mapping", "begin with `coherence: 1`"),
        ("loops: {}", "the key 'coherence' is missing", "begin with `coherence: 1`"),
        ("coherense: 1", "the key 'coherence' is missing", "did you mean 'coherence'?"),
        ("coherence: 2", "version 2", "write `coherence: 1`"),
        ("coherence:", "nothing found", "write a value"),
        ("coherence: [1]", "a list found", "write a value"),
        ("coherence: 1\nloop: {}", "unknown key 'loop'", "did you mean 'loops'?"),
        ("coherence: 1\nloops: 3", "a mapping of names expected, '3' found", "name: {...}"),
        ("coherence: 1\nloops: {Hpa: {}}", "'Hpa' is not a name", "lower-case"),
        ("coherence: 1\nloops: {hpa-web: {}}", "'hpa-web' is not a name", "lower-case"),
        ("coherence: 1\nlimits: {rate: {per: 1 min}}", "'1 min' is not a name", "window: 1 min"),
        ("coherence: 1\ncomponents: {größe: {}}", "'größe' is not a name", "lower-case"),
        ("coherence: 1\nloops: {a: 3}", "a mapping expected, '3' found", "objective"),
        ("coherence: 1\nloops.a.layer: safety", "unknown key 'loops.a.layer'", "`loops: {a: {layer: ...}}`"),
        ("coherence: 1\nloops: {a: {<<: {layer: safety}}}", "unknown key '<<'", "merge keys are not used"),
        ("coherence: 1\nloops: {a: {period: 30 s}}", "unknown key 'period'", "within `timescale`: `timescale: {period"),
        ("coherence: 1\ncalls: [{from: a, to: b, base: 1 s}]", "unknown key 'base'", "`pause: {base: ...}`"),
        ("coherence: 1\ncalls: {a: 1}", "a list expected, a mapping found", "one `- {from: ..., to: ...}` for each"),
        ("coherence: 1\nloops: {a: {target: {signal: a.b, enter: 1}}}", "unknown key 'enter'", "a key of `trigger`"),
        ("coherence: 1\nloops: {a: {target: {signal: a.b, layer: x}}}", "unknown key 'layer'", "beside `uses`"),
        ("coherence: 1\ncomponents: {a: {limits: [1]}}", "unknown key 'limits'", "a section of its own: `limits: ...`"),
        ("coherence: 1\ncomponents: {a: {calls: {to: b}}}", "unknown key 'calls'", "at the top of the design"),
        (
            "coherence: 1\ncomponents: {a: {copies: 2, service: {mean: 40 ms}}}",
            "unknown key 'service'",
            "it is a key of what stands under `workload`: `workload: {NAME: {service: ...}}`",
        ),
        ("coherence: 1\ncalls: [{from: a}]", "the key 'to' is missing", "add `to: ...`"),
        (
            "coherence: 1\nloops: {a: {uses: ../../etc/passwd}}",
            "'../../etc/passwd' is not the name of a part",
            "never by a path",
        ),
        ("coherence: 1\nloops: {a: {uses: /etc/passwd}}", "'/etc/passwd' is not the name of a part", "never by a path"),
        ("coherence: 1\nloops: {a: {uses: kubernetes_hpaa}}", "there is no part", "did you mean 'kubernetes_hpa'?"),
        ("coherence: 1\ntimers: {a: {uses: kubernetes_hpa}}", "belongs under loops:", "move it to loops:"),
        ("coherence: 1\nloops: {a: {timescale: {period: 3}}}", "'3' is a bare number, a duration expected", "500 ms"),
        ("coherence: 1\nloops: {a: {timescale: {period: 0 s}}}", "'0 s' is not above zero", "above zero"),
        ("coherence: 1\nloops: {a: {timescale: {hold_down: -1 s}}}", "'-1 s' is below 0", "at least 0"),
        ("coherence: 1\nworkload: {a: {rate: -5 req/s}}", "'-5 req/s' is below 0", "at least 0"),
        ("coherence: 1\nworkload: {a: {prompt: {mean: -5 token}}}", "'-5 token' is below 0", "at least 0"),
        ("coherence: 1\ncomponents: {a: {needs: {gpu: -2}}}", "'-2' is below 0", "at least 0"),
        ("coherence: 1\ncomponents: {a: {needs: -2 gpu}}", "'-2 gpu' is below 0", "at least 0"),
        ("coherence: 1\nloops: {a: {timescale: {period: .inf}}}", "'.inf' is not a number", "500 ms"),
        ("coherence: 1\nloops: {a: {timescale: {period: NaN s}}}", "'NaN s' is not a number", "500 ms"),
        ("coherence: 1\nloops: {a: {timescale: {period: 1e999999999 s}}}", "'1e999999999 s' is not a number", "500 ms"),
        ("coherence: 1\nloops: {a: {timescale: {period: 1 s .. 2 s .. 3 s}}}", "more than two ends", "a .. b"),
        ("coherence: 1\nloops: {a: {timescale: {period: 1 s .. 2 kW}}}", "mixes s and W", "the same unit"),
        (
            "coherence: 1\nloops: {a: {target: {signal: x.y, sensor: [scrap 3 s]}}}",
            "'scrap 3 s' is not a sensor link",
            "scrape T",
        ),
        (
            "coherence: 1\nloops: {a: {target: {signal: x.y, sensor: [delay 4 s]}}}",
            "'delay 4 s' is not a sensor link",
            "late: delayed(x, 4 s)",
        ),
        ("coherence: 1\nloops: {a: {target: {signal: x.y, sensor: scrape 3}}}", "'3' is a bare number", "500 ms"),
        ("coherence: 1\nloops: {a: {trigger: {enter: x.y > 1}}}", "the key 'leave' is missing", "add `leave"),
        (
            "coherence: 1\nloops: {a: {trigger: \"__import__('os').system('x')\"}}",
            "is not used in expressions",
            "names, numbers",
        ),
        ("coherence: 1\nplacement: {a: spread zone}", "a placement rule expected", "spread by zone <= 1"),
        ("coherence: 1\norder: {preempt: a b}", "a preemption rule expected", "for job take job where"),
        (
            "coherence: 1\norder: {preempt: high over low}",
            "a preemption rule expected",
            "`for high take low where high.priority > low.priority`, and a higher `priority` of high",
        ),
        (
            "coherence: 1\norder: {admit: high before low}",
            "an admission order expected",
            "`largest job.priority first`, and a higher `priority` of high",
        ),
        ("coherence: 1\norder: {admit: first come}", "an admission order expected", "smallest e first"),
        ("coherence: 1\npromises: {p: after a then b within soon}", "'soon' is not a number", "500 ms"),
        ("coherence: 1\npromises: {p: always 5 + 3}", "'5 + 3' is not a condition", "compare"),
        ("coherence: 1\npromises: {p: [a]}", "a promise expected, a list found", "write a value"),
    ],
)
def test_each_mistake_says_what_and_what_to_do(text: str, words: str, remedy: str) -> None:
    found = problems(text)
    assert any(words in p.message and remedy in p.remedy for p in found), [str(p) for p in found]
    assert len(found) == 1


@pytest.mark.parametrize(
    ("text", "low", "high", "varies"),
    [
        ("5 s", 5, 5, False),
        ("1 min .. 2 min", 60, 120, False),
        ("0 .. 3 s", 0, 3, False),
        ("{varies: 1 s .. 3 s}", 1, 3, True),
        ("'varies: 1 s .. 3 s'", 1, 3, True),
    ],
)
def test_quantities_are_exact_ranges_or_new_each_time(text: str, low: int, high: int, varies: bool) -> None:
    timescale = loop_of(f"{{timescale: {{period: 9 s, phase: {text}}}}}").timescale
    assert timescale is not None
    phase = timescale.phase
    assert phase is not None
    assert (phase.low, phase.high, phase.varies, phase.dimension) == (Fraction(low), Fraction(high), varies, SECOND)
    assert phase.exact == (low == high)


def test_a_value_is_a_word_a_quantity_or_a_formula() -> None:
    component = read(
        "coherence: 1\ncomponents: {a: {b: 5, c: 3 .. 4, d: b + 1, e: unlimited, f: 25 % of b}}\n"
    ).components["a"]
    kinds = {name: type(value) for name, value in component.constants.items()}
    assert kinds == {"b": Quantity, "c": Quantity, "d": Formula, "e": Word, "f": Formula}


def test_triggers_are_conditions_or_relays() -> None:
    assert isinstance(loop_of("{trigger: x.y > 1}").trigger, Formula)
    relay = loop_of("{trigger: {enter: x.y > 2, leave: x.y < 1}}").trigger
    assert isinstance(relay, Relay)
    assert (str(relay.enter), str(relay.leave)) == ("x.y > 2", "x.y < 1")


def test_one_value_may_stand_for_a_list_of_one_where_lists_are_short() -> None:
    one = loop_of("{actuation: {signal: x.y, bounds: 3, rate: {by: 1, per: 1 min}}, logs: decision}")
    assert one.actuation is not None
    assert len(one.actuation.bounds) == len(one.actuation.rate) == len(one.logs) == 1


@pytest.mark.parametrize(
    ("words", "kind", "subject", "of"),
    [
        ("server starts", "starts", "server", ""),
        ("worker.task ends", "ends", "worker.task", ""),
        ("all of rank.step end", "ends", "rank.step", "all"),
        ("first rank waits", "waits", "rank", "first"),
        ("last try starts", "starts", "try", "last"),
        ("last ping", "outside", "ping", "last"),
        ("rate_limited", "outside", "rate_limited", ""),
        ("restart   pool", "outside", "restart pool", ""),
    ],
)
def test_events(words: str, kind: str, subject: str, of: str) -> None:
    event = event_of(words, Place("f", 1, 1, 1, 1))
    assert (event.kind, event.subject, event.of) == (kind, subject, of)
    assert event.thing == subject.split(".", maxsplit=1)[0]
    assert event.activity == subject.partition(".")[2]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("never a.b > 3", "never"),
        ("a.b > 3", "always"),
        ("always a.b > 3", "always"),
        ("eventually a.b > 3", "eventually"),
        ("eventually_always a.b == 3", "eventually_always"),
        ("a.b reaches 3", "eventually"),
        ("after a then b within 3 s", "response"),
        ("readiness before liveness", "before"),
        ("always readiness before liveness", "before"),
        ("attempts(x) per call(y) <= 9", "sends"),
        ("never always_on.x > 3", "never"),
    ],
)
def test_promises(text: str, kind: str) -> None:
    promise = read(f"coherence: 1\npromises: {{p: {text}}}\n").promises["p"]
    assert (promise.kind, promise.name, promise.text) == (kind, "p", text)


@pytest.mark.parametrize("word", ["never", "eventually"])
def test_what_comes_first_stands_beside_no_other_word(word: str) -> None:
    with pytest.raises(InputError) as refused:
        read(f"coherence: 1\npromises: {{p: {word} a before b}}\n")
    assert f"'{word}' is no word of a promise here" in str(refused.value)


@pytest.mark.parametrize(("text", "word"), [("chat within 15 s", "within"), ("x.a > 1 until x.b > 2", "until")])
def test_the_forms_of_promises_are_told_for_words_of_other_logics(text: str, word: str) -> None:
    with pytest.raises(InputError) as caught:
        read_text(f"coherence: 1\npromises: {{p: {text}}}\n")
    assert [problem.message for problem in caught.value.problems] == [f"'{word}' is no word of a promise here"]
    assert "after e then f within T" in caught.value.problems[0].remedy


def test_the_condition_of_a_promise_stands_where_it_is_written() -> None:
    text = "coherence: 1\npromises: {p: never  a.b >= 3}\n"
    condition = read(text).promises["p"].condition
    assert condition is not None
    assert text_at({"d.yaml": text}, condition.place) == "a.b >= 3"
    assert str(condition.at((4, 6))) == "d.yaml:2:26"


def test_what_may_be_missing_is_none() -> None:
    loop = loop_of("")
    assert (loop.objective, loop.target, loop.timescale, loop.trigger, loop.rules) == (None, None, None, None, ())
    assert read("coherence: 1\n").promises == {}


def test_a_design_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "d.yaml"
    path.write_text(FULL)
    assert read_design(path) == read(FULL).replace(file=str(path))
    assert read_design(path, shown_as="x.yaml").loops["autoscaler"].place.file == "x.yaml"
    path.write_text("coherence: 1\n---\na: 1\n")
    assert "2 documents" in problems_in(lambda: read_design(path))[0].message


@pytest.mark.parametrize("name", ["absent.yaml", ".", "a\x00b"])
def test_what_cannot_be_read_is_an_input_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_bytes(tmp_path / name, name)


def test_a_pipe_that_nobody_writes_to_is_an_input_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PIPE_WAIT", 0.05)
    os.mkfifo(tmp_path / "d.yaml")
    with pytest.raises(InputError, match="cannot be read: a pipe that nobody writes to"):
        read_bytes(tmp_path / "d.yaml", "d.yaml")


def test_a_pipe_whose_writer_is_slow_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PIPE_WAIT", 0.05)
    near, far = os.pipe()

    def write() -> None:
        os.write(far, b"coherence: 1\n")
        os.close(far)

    late = threading.Timer(0.2, write)
    late.start()
    assert read_bytes(f"/dev/fd/{near}", "d.yaml") == b"coherence: 1\n"
    late.join()
    os.close(near)


def test_by_beside_to_is_refused_with_both_places() -> None:
    found = problems("coherence: 1\nloops:\n  x:\n    actuation:\n      signal: a.b\n      by: 1\n      to: 5\n")
    assert [(p.place.line, p.message, p.remedy) for p in found] == [
        (7, "'to' stands beside 'by' (line 6): only one of them can count", "remove one of the two, or state `law`")
    ]


def test_a_rate_moves_in_one_way_only() -> None:
    switches = "switches: [{rate: 1 req/s, lasts: 30 s}]"
    burst = f"coherence: 1\nworkload:\n  u:\n    rate: 1 req/s\n    arrivals: {{{switches}}}\n"
    found = problems(burst + "    burst: {rate: 5 req/s, lasts: 1 s}\n")
    message = "a burst of 'u' stands beside `switches`: only one of them can count"
    assert [(p.place.line, p.message) for p in found] == [(6, message)]
    found = problems(f"coherence: 1\nworkload: {{u: {{rate: 1 req/s, arrivals: {{cv: 2, {switches}}}}}}}\n")
    assert [p.message for p in found] == ["'switches' stands beside 'cv' (line 2): only one of them can count"]


def test_a_rule_changes_by_a_step_or_to_a_value() -> None:
    found = problems("coherence: 1\nloops: {x: {rules: [{when: a.b > 1, by: 1, to: 5}], actuation: {signal: a.b}}}\n")
    assert [p.message for p in found] == ["'to' stands beside 'by' (line 2): only one of them can count"]


@pytest.mark.parametrize("given", ["by: 1", "to: 5", "law: step, by: 1, to: 5"])
def test_one_of_by_and_to_or_a_law_is_read(given: str) -> None:
    assert not problems(f"coherence: 1\nloops: {{x: {{actuation: {{signal: a.b, {given}}}}}}}\n")


def test_is_design_looks_for_the_first_key() -> None:
    from coherence.language import document

    assert is_design(document.read_text("coherence: 1", "f")[0].root)
    assert not is_design(document.read_text("kind: Pod", "f")[0].root)
    assert not is_design(document.read_text("[coherence]", "f")[0].root)


def test_equal_designs_are_equal_whatever_their_layout() -> None:
    one = read("coherence: 1\nloops: {a: {timescale: {period: 1 s}}}\n")
    other = read("coherence: 1\nloops:\n  a:\n    timescale:\n      period: 1 s\n")
    assert one == other
    assert one != read("coherence: 1\nloops: {a: {timescale: {period: 2 s}}}\n")
    assert one.version is not None
    assert one.version.dimension == ONE


@settings(max_examples=100, deadline=None)
@given(scraps())
def test_any_scraps_of_a_design_are_read_or_refused(text: str) -> None:
    assert all(p.place.file == "d.yaml" and p.message for p in problems("coherence: 1\n" + text))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(FULL) - 1), st.sampled_from(["", "x", " ", "{", "}", ":", "\n", "9", ".", "é", "'"]))
def test_one_slip_in_a_design_is_read_or_refused_with_a_remedy(position: int, put: str) -> None:
    found = problems(FULL[:position] + put + FULL[position + 1 :])
    assert all(p.place.line <= FULL.count("\n") + 2 and p.message and p.remedy for p in found), [str(p) for p in found]


def test_a_victim_that_is_suspended_is_refused_with_what_may_be_written() -> None:
    with pytest.raises(InputError, match=r"a victim that is suspended keeps its memory.*`returns` is the victim"):
        read_text("coherence: 1\norder: {victim: suspends}\n")


def test_a_comma_that_ends_a_value_between_braces_is_explained() -> None:
    with pytest.raises(InputError) as caught:
        read_text("coherence: 1\ncomponents: {a: {x: max(0, 1)}}\n", "d.yaml")
    first = caught.value.problems[0]
    assert (first.message, first.remedy) == (
        "')' expected, the end found in 'max(0'",
        "complete the expression; between { and } a comma ends a value that is not in quotes",
    )


@pytest.mark.parametrize(
    ("rate", "refused"), [("20 req/s", False), ("20 req / s", True), ("20 req/s / s.copies", False)]
)
def test_only_a_time_behind_a_blank_is_asked_whether_it_is_a_thing(rate: str, refused: bool) -> None:
    text = f"coherence: 1\ncomponents: {{s: {{copies: 4}}, pool: {{load: {rate}}}}}\n"
    if refused:
        with pytest.raises(InputError, match="'s' is a unit and a name here"):
            read_text(text, "d.yaml")
    else:
        assert read_text(text, "d.yaml").components
