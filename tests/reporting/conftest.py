"""Hand-made reports that a person can read, and strategies for reports that no person would write."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import strategies as st

from coherence.base.places import NOWHERE, Place
from coherence.findings.finding import (
    Accounting,
    Edit,
    Evidence,
    Finding,
    Grade,
    InputFile,
    NotRead,
    QuestionPage,
    Repair,
    Report,
    Severity,
    Step,
    Verdict,
    setting,
)

DESIGN = """\
design: serving
loops:
  app:
    retry:
      tries: 4
      per_try: 20 s   # measured at the gateway
  drain:
    node: 60 s
calls:
  - {from: app, to: serving, tries: 4, per_try: 20 s, pause: 2 s}
"""
POOL = "pool:\n\tnode: 30 s\t# 温度 sensor, tab-indented\n\tnäme: 'π ≈ 3'\n"
FILES = {"specs/design.yaml": DESIGN, "specs/pool.yaml": POOL}


def span(file: str, line: int, text: str, label: str = "") -> Place:
    """The place of `text` on a line of one of the files."""
    column = FILES[file].split("\n")[line - 1].index(text) + 1
    return Place(file, line, column, line, column + len(text), label)


TIMELINE = tuple(
    Step(Fraction(seconds), text)
    for seconds, text in ((0, "drain"), (20, "try 1 ends"), (22, "try 2"), (60, "node gone"), (66, "try 4"))
)


def conflict() -> Finding:
    """Two marks on one line, a third place far away, figures, a witness, two repairs and a candidate."""
    call, drain = "specs/design.yaml", span("specs/design.yaml", 8, "60 s", "node is reclaimed after 60 s")
    tries = span(call, 10, "tries: 4", "four tries")
    per_try = span(call, 10, "per_try: 20 s", "up to 86 s of re-sending")
    repairs = (
        Repair((Edit(drain, "60 s", "90 s"),), "re-checked: proved", proved=True),
        Repair((Edit(per_try, "per_try: 20 s", "per_try: 12 s"), Edit(tries, "4", "3")), "", proved=True),
        Repair(
            (Edit(span(call, 10, "4, "), "4, ", "3, "), Edit(per_try, "per_try: 20 s", "per_try: 18 s")), "re-checked"
        ),
    )
    numbers: dict[str, tuple[Fraction | float, str]] = {
        "span": (Fraction(86), "s"),
        "drain": (Fraction(60), "s"),
        "load": (0.8125, "req/s"),
    }
    evidence = Evidence(Grade.PROVED, "linear arithmetic, z3", TIMELINE, None, numbers, replayed=True)
    message = "client retries outlive the server's drain"
    return Finding(
        "COH203", "retry-outlives-drain", Verdict.CONFLICT, Severity.ERROR, message, (tries, per_try, drain),
        ("app", "drain"), evidence, "certain", ("fixed backoff, no jitter",), repairs,
    )  # fmt: skip


def proof(code: str = "COH203", line: int = 6) -> Finding:
    """A pair that is safe."""
    place = span("specs/design.yaml", line, "20 s") if line == 6 else Place("specs/design.yaml", line, 3, line, 6)
    evidence = Evidence(Grade.PROVED, "linear arithmetic, z3", certificate="(assert false)\n(check-sat)\n")
    message = "retries end before the drain does"
    return Finding(
        code, "retry-outlives-drain", Verdict.PROVED, Severity.INFO, message, (place,), ("app", str(line)), evidence
    )


def undecided() -> Finding:
    """Two files, tabs and wide characters, a search that stopped."""
    here = span("specs/pool.yaml", 2, "30 s", "too short?")
    wide = span("specs/pool.yaml", 2, "温度", "sensor")
    accent = span("specs/pool.yaml", 3, "'π ≈ 3'", "a Greek value")
    there = span("specs/design.yaml", 6, "20 s", "one try")
    evidence = Evidence(Grade.BOUNDED, "bounded search", bound="20 steps")
    message = "the pool may empty before a try ends"
    return Finding(
        "COH210", "pool-empties", Verdict.UNDECIDED, Severity.ERROR, message, (here, wide, accent, there),
        ("pool", "app"), evidence,
    )  # fmt: skip


def vacuous() -> Finding:
    """No place in any source."""
    evidence = Evidence(Grade.PROVED, "no value satisfies the assumptions")
    place = NOWHERE.labelled("supplied by the catalogue")
    return Finding("COH199", "vacuous", Verdict.VACUOUS, Severity.WARNING, "nothing can happen", (place,), (), evidence)


def placeless() -> Finding:
    """A finding about the whole design."""
    evidence = Evidence(Grade.ESTIMATED, "rule of thumb")
    return Finding("COH601", "costly", Verdict.CONFLICT, Severity.INFO, "42 % of it is lost", (), ("all",), evidence)


def overlapping() -> Finding:
    """Nested and equal spans on one line, and a span over several lines."""
    file = "specs/design.yaml"
    line = 10
    places = (
        span(file, line, "from: app", "the caller"),
        span(file, line, "{from: app, to: serving, tries: 4, per_try: 20 s, pause: 2 s}", "one call"),
        span(file, line, "20 s", "each try"),
        span(file, line, "20 s", "said twice"),
        Place(file, 3, 3, 7, 1, "the loop"),
    )
    evidence = Evidence(Grade.SIMULATED, "exact executor", bound="")
    message = "everything overlaps"
    return Finding(
        "COH299", "overlap", Verdict.CONFLICT, Severity.WARNING, message, places, ("x",), evidence, "possible"
    )


def long_witness(steps: int = 200) -> Finding:
    """A timeline too long for a page."""
    witness = tuple(Step(Fraction(n, 4) if n % 10 else None, f"step {n}") for n in range(steps))
    evidence = Evidence(Grade.SIMULATED, "exact executor", witness, replayed=True)
    place = span("specs/design.yaml", 5, "tries: 4")
    return Finding(
        "COH205", "oscillates", Verdict.CONFLICT, Severity.ERROR, "it never settles", (place,), ("app",), evidence
    )


def report_of(*findings: Finding, suppressed: tuple[Finding, ...] = ()) -> Report:
    """A report over the two files."""
    return Report(
        findings=findings,
        accounting=Accounting(
            designs=1,
            loops=5,
            calls=2,
            timers=1,
            limits=1,
            promises=3,
            promises_conflict=1,
            promises_undecided=2,
            conflict=1,
            safe=30,
            not_modelled=2,
            unrelated=3,
        ),
        inputs=tuple(InputFile(path, f"{number:064x}") for number, path in enumerate(FILES)),
        sources=FILES,
        suppressed=suppressed,
        not_read=(setting(span("specs/pool.yaml", 3, "näme"), "a name has no meaning here"),),
        assumptions=("clocks agree",),
        seed=7,
    )


def everything() -> Report:
    """One of each."""
    findings = (long_witness(), proof(), conflict(), undecided(), vacuous(), placeless(), overlapping())
    return report_of(*findings, suppressed=(replace(proof("COH204", 8), verdict=Verdict.CONFLICT),))


RULES = (
    QuestionPage(
        "COH203", "retry-outlives-drain", "Retries must end before the drain", "## What\nA `retry`.", "patterns.drain"
    ),
    QuestionPage("COH999", "unused", "Not in the report", "", "patterns.unused"),
)


@pytest.fixture
def full_report() -> Report:
    return everything()


# --- strategies -------------------------------------------------------------------------------------------------------

HOSTILE = (
    "]]>", "%0A::error::x", "::error file=a::b", "```\n# heading", "<script>alert(1)</script>", "[a](https://evil.example)",
    "![i](x)", "a|b", "\x1b[31m", "\r\n", "\u202e", "\ud800", "\udcff", "&lt;", "@everyone", "{0}", "\\", "\ufffe",
    "<!-- -->", "a,b:c%", "\t", "\x00", "\u2028", "http://x.example", "www.x.example", "--- ", "1. ", "{{", "'\"",
    "温度", "e\u0301", "👩\u200d🔧", "\n\n\n", "~~~", "*b*", "_i_", "<https://x.example>", ":smile:",
    "#1", "`", "``", "$x$",
)  # fmt: skip
TEXTS = (
    st.sampled_from(HOSTILE)
    | st.tuples(st.sampled_from(HOSTILE), st.sampled_from(HOSTILE)).map("".join)
    | st.text(st.characters(), max_size=8)
)
NAMES = TEXTS.map(lambda text: text.encode("utf-8", "replace").decode())  # what a fingerprint can be made of
PATHS = st.sampled_from([*FILES, "<built-in>", "", "/etc/x y.yaml", "C:\\a\\b.yaml"]) | TEXTS
NUMBERS = st.fractions() | st.integers() | st.floats() | st.sampled_from([Fraction(10) ** 4200, Fraction(1, 3**400)])
TIMES = st.none() | st.fractions(-10, 10**7) | st.sampled_from([Fraction(10) ** 4200, Fraction(1, 7**90)])


def places() -> st.SearchStrategy[Place]:
    """Places in and out of the sources, forwards and backwards."""
    small = st.integers(-1, 14)
    return st.builds(Place, PATHS, small, st.integers(-1, 70), small, st.integers(-1, 70), TEXTS)


def edits() -> st.SearchStrategy[Edit]:
    return st.builds(Edit, places(), TEXTS, TEXTS)


def findings() -> st.SearchStrategy[Finding]:
    """Findings with any text anywhere."""
    evidence = st.builds(
        Evidence,
        st.sampled_from(Grade),
        TEXTS,
        st.lists(st.builds(Step, TIMES, TEXTS), max_size=14).map(tuple),
        st.none() | TEXTS,
        st.dictionaries(TEXTS, st.tuples(NUMBERS, st.sampled_from(["s", "", "req/s"]) | TEXTS), max_size=3),
        TEXTS,
        st.booleans(),
    )
    return st.builds(
        Finding,
        st.sampled_from(["COH101", "COH203", "COH310"]) | NAMES,
        TEXTS,
        st.sampled_from(Verdict),
        st.sampled_from(Severity),
        TEXTS,
        st.lists(places(), max_size=3).map(tuple),
        st.lists(NAMES, max_size=3).map(tuple),
        evidence,
        st.sampled_from(["", "certain", "possible"]) | TEXTS,
        st.lists(TEXTS, max_size=2).map(tuple),
        st.lists(st.builds(Repair, st.lists(edits(), max_size=3).map(tuple), TEXTS), max_size=2).map(tuple),
    )


def reports() -> st.SearchStrategy[Report]:
    """Reports with any findings over the two files, and sources of any text."""
    counts = st.integers(0, 99)
    some = st.lists(findings(), max_size=3).map(tuple)
    return st.builds(
        Report,
        some,
        st.builds(Accounting, *[counts] * 9),
        st.lists(st.builds(InputFile, PATHS, TEXTS), max_size=2).map(tuple),
        st.just(FILES) | st.dictionaries(PATHS, TEXTS, max_size=3),
        some,
        st.lists(st.builds(NotRead, places(), TEXTS, TEXTS, TEXTS, TEXTS, st.booleans()), max_size=2).map(tuple),
        st.lists(TEXTS, max_size=2).map(tuple),
        st.integers(),
    )
