"""Adds an entry to designs with proofs that touches what a proof is about, and lists the proofs that say nothing of it.

Who touches whom is read here from the words that the entries of a proof use, by no account of the engines.  A proof
that an entry touches may fall, name it, or hold with it: the last is decided by whoever knows the runs of the family.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

import yaml

from coherence.base.errors import InputError
from coherence.checking.design_check import analyse
from coherence.findings.finding import Finding, Verdict
from coherence.language.reading import read_text
from tests.second_interpreter.designs import plant_design
from tests.second_interpreter.drawn import Drawn

Family = Callable[[Random], Drawn]
Sections = dict[str, Any]
WORD = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*")
ADDED = "added_entry"


def findings_of(text: str) -> tuple[Finding, ...]:
    """Returns what all questions say of a design."""
    design = read_text(text, "case.yaml")
    again = lambda texts: read_text(texts["case.yaml"], "case.yaml")  # noqa: E731
    return analyse(design, {"case.yaml": text}, again, time_limit=2, verify_repairs=False).findings


def words_of(design: Sections, finding: Finding) -> set[str]:
    """Returns the words of the entries that a finding names, and of the components that they name."""
    words = set(finding.of)
    for _ in range(2):
        entries = [design.get(section, {}).get(word, "") for section in design if isinstance(design[section], dict)
                   for word in sorted(words)]  # fmt: skip
        calls = [call for call in design.get("calls", []) if {f"{call['from']} -> {call['to']}"} & words]
        words |= {word for text in (*entries, *calls) for word in WORD.findall(str(text))}
        words |= {word.split(".")[0] for word in words}
    return words


def plant(random: Random) -> str:
    """Returns a plant with loops and a promise that holds often."""
    kind, side, limit = random.choice(
        [("always", "<=", 30), ("never", ">", 40), ("eventually", "<=", 30), ("eventually_always", ">=", -20)]
    )
    return f"{plant_design(random)}\npromises: {{p: {kind} x {side} {limit}}}\n"


Adds = Callable[[Random, Sections, set[str]], Sections | None]


def boundary(random: Random, design: Sections, words: set[str]) -> Sections | None:
    things = sorted(words & {*design.get("components", {})})
    if not things:
        return None
    wall = {"kind": "environment", "around": [random.choice(things)], "added_delay": "7 s"}
    return {"infrastructure": {"boundaries": {ADDED: wall}}}


def limit(random: Random, design: Sections, words: set[str]) -> Sections | None:
    own = {f"{name}.{key}" for name in words & {*design.get("components", {})} for key in design["components"][name]}
    written = {loop["actuation"].get("signal", "") for loop in design.get("loops", {}).values()}
    signals = sorted((own | written) & words - {"", *(f"{name}.takes" for name in words)})
    return {"limits": {ADDED: {"counts": random.choice(signals), "at_most": 1}}} if signals else None


def writer(random: Random, design: Sections, words: set[str]) -> Sections | None:
    loops = [loop["actuation"]["signal"] for loop in design.get("loops", {}).values() if "signal" in loop["actuation"]]
    members = {f"{name}.copies" for name, thing in design.get("components", {}).items() if "copies" in thing}
    signals = sorted(words & set(loops) | {path for path in members if path.split(".")[0] in words})
    if not signals:
        return None
    write = {"signal": random.choice(signals), "law": "step", "by": 1, "bounds": [0, 50]}
    return {"loops": {ADDED: {"timescale": {"period": "1 s"}, "trigger": "ext.alarm > 1", "actuation": write}}}


def evictor(random: Random, design: Sections, words: set[str]) -> Sections | None:
    things = sorted(words & {*design.get("components", {}), *design.get("jobs", {})})
    if not things:
        return None
    evicts = {"timescale": {"period": "1 s"}, "trigger": "ext.alarm > 1", "actuation": {"evict": random.choice(things)}}
    return {"loops": {ADDED: evicts}}


def timer(random: Random, design: Sections, words: set[str]) -> Sections | None:
    events = sorted({t["then"] for t in design.get("timers", {}).values() if t["then"].endswith(("starts", "ends"))
                     and t["then"].split()[0] in words})  # fmt: skip
    return {"timers": {ADDED: {"from": "ext alarm", "after": "1 s", "then": random.choice(events)}}} if events else None


def stop(random: Random, design: Sections, words: set[str]) -> Sections | None:
    resources = {thing for thing, stated in design.get("components", {}).items() if {*stated} <= {"count"}}
    things = sorted(words & {*design.get("components", {}), *design.get("jobs", {})} - resources)
    if not things:
        return None
    verb = random.choice(["restart", "unlist", "stop"])
    return {"timers": {ADDED: {"from": "ext alarm", "after": "1 s", "then": f"{verb} {random.choice(things)}"}}}


def ending(random: Random, design: Sections, words: set[str]) -> Sections | None:
    things = sorted(word for word in words & {*design.get("components", {})})
    return {"components": {random.choice(things): {"takes": {"end": "40 s"}}}} if things else None


def leaving(random: Random, design: Sections, words: set[str]) -> Sections | None:
    jobs = sorted(words & {*design.get("jobs", {})})
    return {"jobs": {random.choice(jobs): {"leaves_after": "1 s"}}} if jobs else None


def burst(random: Random, design: Sections, words: set[str]) -> Sections | None:
    loads = sorted(words & {name for name, load in design.get("workload", {}).items() if "burst" not in load})
    more = {"burst": {"rate": "900 req/s", "lasts": "1 s", "every": "10 s"}}
    return {"workload": {random.choice(loads): more}} if loads else None


EVERY = frozenset({""})
HOLDS: dict[Adds, frozenset[str]] = {  # questions whose proofs hold whatever such an entry says
    boundary: frozenset({"COH207"}),  # a later start of the later
    limit: frozenset[str](),
    writer: frozenset({"COH203", "COH205", "COH212", "COH222", "COH223"}),  # times, and pairs: not this writer
    evictor: frozenset({"COH207", "COH225", "COH227", "COH228", "COH248", "COH307"}),  # a capacity has no members
    timer: frozenset({"COH207", "COH208"}),  # both events are measured from the start, whoever brings it about
    stop: frozenset({"COH201", "COH203", "COH206", "COH228"}),  # what stops needs no more time
    ending: EVERY,  # who evicts or takes turns reads it, and nobody else waits for the end of a member
    leaving: frozenset({"COH225", "COH228", "COH248"}),  # which read it: a job that leaves takes nothing more
    burst: frozenset({"COH209"}),  # counts members, not requests
}  # fmt: skip
ADDS: tuple[Adds, ...] = (boundary, limit, writer, evictor, timer, stop, ending, leaving, burst)


def merged(one: Any, other: Any) -> Any:
    """Returns a mapping with what another one has more."""
    if isinstance(one, dict) and isinstance(other, dict):
        return {**one, **{key: merged(one[key], value) if key in one else value for key, value in other.items()}}
    return other


def silent_proofs(families: Mapping[str, Family], seeds: range, counts: Counter[str]) -> Iterator[str]:
    """Yields the proofs that stand over an entry that touches them and say nothing of it."""
    for seed in seeds:
        random = Random(f"standing {seed}")  # noqa: S311  (the same designs in every run)
        name, family = random.choice(sorted(families.items()))
        text = plant(random) if random.random() < 0.3 else family(random).text
        design = yaml.safe_load(text)
        proofs = [finding for finding in findings_of(text) if finding.verdict is Verdict.PROVED]
        for proof in proofs[:3]:
            words = words_of(design, proof)
            adds = [(add, more) for add in ADDS if (more := add(random, design, words)) is not None]
            for add, more in random.sample(adds, min(2, len(adds))):
                fuller = yaml.safe_dump(merged(design, more), sort_keys=False, width=1000)
                try:
                    after = findings_of(fuller)
                except InputError:
                    counts["refused"] += 1
                    continue
                answers = [f for f in after if f.code == proof.code and {*proof.of} & {*f.of}]
                stands = [f for f in answers if f.verdict is Verdict.PROVED and f.of == proof.of]
                holds = any(proof.code.startswith(code) for code in HOLDS[add])
                quiet = bool(stands) and not holds and not any(mentions(f, more) for f in answers)
                counts[f"{add.__name__} {'quiet' if quiet else 'stands' if stands else 'fell'}"] += 1
                if quiet:
                    yield f"{name} {seed} {add.__name__}: {proof.code} {proof.of} stands: {stands[0].message}\n{fuller}"


def mentions(finding: Finding, more: Sections) -> bool:
    """Decides whether a finding speaks of what was added."""
    texts = " ".join((finding.message, *finding.assumptions, *finding.of, *(str(p.label) for p in finding.places)))
    key = next(iter(more.values()))
    words = {ADDED, "burst", "leaves_after", "takes.end"} if ADDED not in str(key) else {ADDED}
    return any(word in texts for word in words)
