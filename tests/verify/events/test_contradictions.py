"""No two findings of one report contradict each other about one pair of events."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.design import Design, Timer
from coherence.language.entries.actions import ended_activity
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Quantity
from tests.draws import few
from tests.second_interpreter.events import PlainTimer, graph
from tests.second_interpreter.laid import MODULES
from tests.second_interpreter.loads import stated

FILE = "case.yaml"
ORDERS = ("COH206", "COH207", "COH208", "COH213", "COH219")
HALF = Fraction(1, 2)


@st.composite
def designs(draw: st.DrawFn) -> str:
    """Draws timers and activities, calls in some, and for each timer that an event ends two promises about both.

    Each activity starts once: of several starts an order speaks of each, and a time to answer of the first.
    """
    random = draw(st.randoms(use_true_random=False))
    timers, takes = graph(random)
    timers = [timer for timer in timers if timer.name == "stop" or timer.name[0] != "s"]
    for number in range(random.randint(1, 2)):
        activity = random.choice(list(takes))
        begin = random.choice([f"{activity} starts", "alarm"])
        low = Fraction(random.randint(0, 12)) + HALF / 2
        verb = random.choice(["kill", "page"])
        timers.append(
            PlainTimer(
                f"w{number}", begin, (low, low + random.choice([0, 2])), f"{verb} {activity[:-5]}", f"{activity} ends"
            )
        )
    things = [f"{name[:-5]}: {{takes: {{work: {stated(ends, ' s')}}}}}" for name, ends in takes.items()]
    calls = _calls(random, things) if random.random() < 0.5 else []
    ended = [timer for timer in timers if timer.unless]
    promises = [f"  before_{t.name}: {t.unless} before {t.name}" for t in ended]
    promises += [f"  within_{t.name}: after {t.begin} then {t.unless} within {float(t.after[0]):g} s" for t in ended]
    first, second = random.sample(timers, 2)
    promises += [f"  order: {first.name} before {second.name}", f"  reverse: {second.name} before {first.name}"]
    lines = ["coherence: 1", f"components: {{{', '.join(things)}}}", "timers:", *(timer.line() for timer in timers)]
    return "\n".join([*lines, *calls, "promises:", *promises, ""])


def _calls(random: Random, things: list[str]) -> list[str]:
    low = random.randint(0, 3)
    things.append(f"db: {{takes: {{serve: {low} s .. {low + random.choice([0, 1, 4])} s}}}}")
    again = ", retry_when: [unavailable], fails: {unavailable: 1 s}" if random.random() < 0.5 else ""
    return [
        "calls:",
        f"  - {{from: n0, to: db, per_try: {random.randint(1, 6)} s, tries: {random.randint(1, 3)}{again}}}",
    ]


def findings_of(text: str) -> tuple[Finding, ...]:
    """Returns what the questions about order say; without the text itself they look for no repairs."""
    subject = Subject(read_text(text, FILE), {})
    return tuple(finding for code in (*ORDERS, "COH243") for finding in MODULES[code].ask(subject))


def pairs(text: str, finding: Finding) -> tuple[str, str] | None:
    """Returns the two events of which a finding says whether the first always comes before the second."""
    design = read_text(text, FILE)
    if finding.code in ("COH206", "COH207"):
        timer = design.timers[finding.of[0]]
        return (timer.unless.text, timer.name) if timer.unless is not None else None
    if finding.code in ("COH208", "COH219"):
        promise = next(design.promises[name] for name in finding.of if name in design.promises)
        return (promise.first.text, promise.second.text) if promise.first and promise.second else None
    return (finding.of[1], finding.of[0]) if finding.code == "COH213" else None


def claims(text: str, findings: tuple[Finding, ...]) -> tuple[dict[tuple[str, str], str], dict[tuple[str, str], str]]:
    """Returns the pairs of which the first always comes before the second, and of which it may come after it."""
    always: dict[tuple[str, str], str] = {}
    not_always: dict[tuple[str, str], str] = {}
    for finding in findings:
        pair = pairs(text, finding) if finding.code in ORDERS else None
        if pair is None or finding.verdict not in (Verdict.PROVED, Verdict.CONFLICT):
            continue
        holds = (finding.verdict is Verdict.PROVED) is (finding.code != "COH213")
        (always if holds else not_always)[pair] = f"{finding.code}: {finding.message}"
    return always, not_always


@settings(max_examples=few(30), deadline=None)
@given(designs())
def test_no_two_findings_contradict_each_other_about_the_order_of_two_events(text: str) -> None:
    always, not_always = claims(text, findings_of(text))
    for first, second in always:
        told = always.get((second, first)) or not_always.get((first, second))
        assert told is None, f"{always[first, second]}\n{told}\n{text}"


def is_forestalled(design: Design, timer: Timer) -> bool:
    """Decides whether another timer that waits for the same always ends it first: then everything comes before it."""
    waits = [other for other in design.timers.values() if (other.start, other.unless) == (timer.start, timer.unless)]
    afters = [other.after.high for other in waits if isinstance(other.after, Quantity)]
    return isinstance(timer.after, Quantity) and any(high < timer.after.low for high in afters)


def ends_its_work(design: Design, timer: Timer) -> bool:
    """Decides whether a timer kills what it waits for: that is over within its time then."""
    then = timer.then.text if timer.then is not None else ""
    return timer.unless is not None and f"{ended_activity(design, then)} ends" == timer.unless.text


@settings(max_examples=few(30), deadline=None)
@given(designs())
def test_what_always_comes_before_a_timer_that_fires_comes_within_its_time(text: str) -> None:
    findings = findings_of(text)
    always, not_always = claims(text, findings)
    design = read_text(text, FILE)
    for timer in (timer for timer in design.timers.values() if timer.unless is not None):
        pair = timer.unless.text if timer.unless is not None else "", timer.name
        for finding in (f for f in findings if f.code == "COH243" and f"within_{timer.name}" in f.of):
            if finding.verdict is Verdict.PROVED and not ends_its_work(design, timer):
                assert pair not in not_always, f"{finding.message}\n{not_always[pair]}\n{text}"
            if finding.verdict is Verdict.CONFLICT and not is_forestalled(design, timer):
                assert pair not in always, f"{finding.message}\n{always[pair]}\n{text}"
