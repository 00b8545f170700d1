"""Draws designs of every family with promises, limits and timers of every kind beside, and lists what nobody answers.

What is owed an answer: a promise has one (whatever it says), a limit and a timer have one or stand among what is not
read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from random import Random

import yaml

from coherence.base.errors import InputError
from coherence.checking.design_check import Answers, analyse
from coherence.findings.promise_answers import promise_answers
from coherence.language.design import Design
from coherence.language.reading import read_text
from tests.second_interpreter.designs import plant_design, wide_design
from tests.second_interpreter.drawn import Drawn

Family = Callable[[Random], Drawn]
SIGNAL = re.compile(r"\b[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*\b")
KINDS = ("", "always ", "never ", "eventually ", "eventually_always ")
MORE = ("web.cpu", "users.rate", "queue.latency", "pool.ready")  # which nothing states or writes


def ledger_design(random: Random, families: Mapping[str, Family]) -> str:
    """Returns a design of some family, or a plant without its loops, with up to five promises, limits and timers."""
    design = yaml.safe_load(_text(random, families))
    signals, events = words(random, str(design))
    made = {"promises": promise, "limits": limit, "timers": timer}
    for section in random.choices(("promises", "promises", "promises", "limits", "timers"), k=random.randint(1, 5)):
        entries = design.setdefault(section, {})
        entries[f"more{len(entries)}"] = made[section](random, signals, events)
    return yaml.safe_dump(design, sort_keys=False, width=1000)


def _text(random: Random, families: Mapping[str, Family]) -> str:
    if random.random() < 0.3:
        text = random.choice((plant_design, plant_design, wide_design))(random)
        return text if random.random() < 0.4 else text.partition("loops:")[0]
    return random.choice(list(families.values()))(random).text


def words(random: Random, text: str) -> tuple[list[str], list[str]]:
    """Returns signals that a design speaks of, with some that nothing states, and events of it and from outside."""
    signals = sorted(set(SIGNAL.findall(text))) + random.sample(MORE, 2)
    things = sorted({signal.split(".")[0] for signal in signals})
    happening = [f"{thing} {what}" for thing in things for what in ("starts", "ends")]
    return signals, [*happening, *(f"{signal} ends" for signal in signals[:4]), "step hangs", "refused", *things]


def promise(random: Random, signals: list[str], events: list[str]) -> str:
    """Returns a promise of some form."""
    first, second = random.choices(events, k=2)
    within = f"within {random.randint(0, 9)} s"
    shape = random.choice(["number"] * 4 + ["response"] * 2 + ["measured", "order", "sends", "count", "event"])
    match shape:
        case "number":
            return random.choice(KINDS) + comparison(random, signals)
        case "response":
            return f"after {comparison(random, signals)} then {comparison(random, signals)} {within}"
        case "event":
            return f"after {first} then {random.choice([second, comparison(random, signals)])} {within}"
        case "order":
            return f"{first} before {random.choice(['', 'last ', 'first '])}{second}"
        case "sends":
            a, b = (random.choice(events).split()[0] for _ in "ab")
            return f"attempts({a}) per call({b}) <= {random.randint(1, 9)}"
        case "count":
            return f"{random.choice(KINDS)}count of {random.choice(events).split()[0].split('.')[0]} by node <= 2"
    what = random.choice(["quantile({}, 0.99)", "mean({})", "tail({}, 5)"]).format(random.choice(signals))
    return f"{random.choice(KINDS)}{what} <= {random.randint(1, 9)}"


def comparison(random: Random, signals: list[str]) -> str:
    """Returns a comparison of signals with numbers, of some of their past, or of two of them."""
    one, other = random.choice(signals), random.choice(signals)
    left = random.choice([one, one, one, f"{one} + {other}", f"delayed({one}, 1 s)", f"mean_over({one}, 5 s)",
                          f"max({one}, {other})", f"previous({one})"])  # fmt: skip
    right = random.choice([random.randint(-2, 9), random.randint(-2, 9), other])
    return f"{left} {random.choice(['<=', '<', '>=', '>'])} {right}{random.choice(['', '', '', ' for 3 s'])}"


def limit(random: Random, signals: list[str], _events: list[str]) -> dict[str, str]:
    """Returns a limit on a signal."""
    counts, number = random.choice(signals), str(random.randint(1, 9))
    beside = random.choice([{}, {}, {"window": "1 min"}, {"when_full": "reject"}, {"per": "run"}])
    return {"counts": counts, random.choice(["at_most", "at_most", "at_least"]): number, **beside}


def timer(random: Random, _signals: list[str], events: list[str]) -> dict[str, str]:
    """Returns a timer between two events."""
    begin, end = random.choices(events, k=2)
    unless = random.choice([{}, {"unless": random.choice(events)}])
    return {"from": begin, "after": f"{random.randint(1, 9)} s", **unless, "then": end}


def unanswered(
    families: Mapping[str, Family], seeds: range, counts: Counter[str], *, time_limit: float
) -> Iterator[str]:
    """Yields each promise, limit and timer of drawn designs that has no answer, and promises that have several."""
    for seed in seeds:
        text = ledger_design(Random(f"ledger {seed}"), families)  # noqa: S311  (the same designs in every run)
        try:
            design = read_text(text, "case.yaml")
        except InputError:
            counts["refused"] += 1
            continue
        answers = analyse(
            design, {"case.yaml": text}, lambda texts: read_text(texts["case.yaml"], "case.yaml"),
            time_limit=time_limit, verify_repairs=False,
        )  # fmt: skip
        given = promise_answers(design, answers.findings)
        counts.update(f"{design.promises[name].kind} {finding.verdict}" for name, finding in given.items())
        yield from (f"ledger {seed}: {line}\n{text}" for line in _missing(design, answers))


def _missing(design: Design, answers: Answers) -> Iterator[str]:
    given = promise_answers(design, answers.findings)
    yield from (f"promise {name} has no answer" for name in design.promises if name not in given)
    counted = answers.accounting
    sums = (counted.promises_conflict, counted.promises_proved, counted.promises_undecided, counted.promises_vacuous)
    if sum(sums) != len(design.promises):
        yield f"{len(design.promises)} promises, but {sums} answers"
    spoken = {name for finding in answers.findings for name in finding.of}
    named = {(line.section, line.entry) for line in answers.not_read}
    owed: dict[str, list[str]] = {"limits": list(design.limits), "timers": list(design.timers)}
    for section, entries in owed.items():
        yield from (f"{section} {name}" for name in entries if name not in spoken and (section, name) not in named)
