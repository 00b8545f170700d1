"""Selectors, taints, weights and several evictors: verdicts against plain enumeration."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from coherence.base.solver import unsat
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.jobs.eviction import chase, evictor, moves
from coherence.verify.jobs.losses import losses
from coherence.verify.jobs.placement import placement
from coherence.verify.jobs.selectors import admissions_of
from coherence.verify.jobs.sites import cluster
from coherence.verify.patterns.placement import evictor_vs_placer, place_loss, placement_feasibility
from tests.verify.jobs.naive_places import NaiveLike, NaiveNode, NaivePlaces, NaiveRule

TWO = """coherence: 1
components: {{web: {{copies: {copies}, returns: always}}}}
places: {{n1: {{zone: a}}, n2: {{zone: a}}, n3: {{zone: b}}}}
placement: {{web: [{rules}]}}
loops:
  dup: {{trigger: count of web by node > {node}, actuation: {{evict: web}}}}
  zones: {{trigger: count of web by zone > {zone}, actuation: {{evict: web}}}}
"""


def subject(text: str) -> Subject:
    return Subject(read_text(text), {"<design>": text})


def answers(module: object, text: str) -> list[Finding]:
    return list(module.ask(subject(text)))  # type: ignore[attr-defined]


def random_places(seed: int) -> tuple[str, NaivePlaces, int, int]:
    draw = random.Random(seed)  # noqa: S311  (reproducible, not secret)
    zones = [draw.choice("abc") for _ in range(draw.randint(1, 4))]
    taints = [draw.choice(["", "", "", "gpu", "spot"]) for _ in zones]
    room = draw.choice([None, None, 1, 2])
    borne, weighed = draw.random() < 0.4, draw.random() < 0.5
    picks = draw.choice(["", "", "only on zone a or b", "not on zone c", "not on node n0"])
    rules = [
        NaiveRule(by, draw.randint(1, 2), draw.random() < 0.15, draw.random() < 0.4, draw.randint(1, 3))
        for by in ("zone", "node") if draw.random() < 0.7
    ]  # fmt: skip
    likes = [NaiveLike(draw.choice("ab"), draw.random() < 0.7, draw.randint(1, 3))] if draw.random() < 0.4 else []
    nodes = [
        NaiveNode(zone, room, bool(taint) and not (borne and taint == "gpu"), f"n{n}")
        for n, (zone, taint) in enumerate(zip(zones, taints, strict=True))
    ]
    zoned = picks in ("only on zone a or b", "not on zone c")
    out = {n for n, zone in enumerate(zones) if (picks == "not on node n0" and n == 0) or (zoned and zone == "c")}
    kept = [node for n, node in enumerate(nodes) if n not in out]
    soft = [rule for rule in rules if not rule.must]
    alone = len(soft) + len(likes) < 2
    if not weighed and not alone:
        rules, likes = [replace(r, weight=1) for r in rules], [replace(k, weight=1) for k in likes]
    naive = NaivePlaces(
        tuple(kept or [replace(node, closed=True) for node in nodes]), tuple(rules), tuple(likes),
        summed=weighed or alone,
    )  # fmt: skip
    sites = ", ".join(
        f"n{n}: {{zone: {zone}{f', slots: {room}' if room else ''}{f', taint: {taints[n]}' if taints[n] else ''}}}"
        for n, zone in enumerate(zones)
    )
    words = [_rule_text(rule, weighed=weighed) for rule in rules] + [_like_text(k, weighed=weighed) for k in likes]
    words += [word for word in (picks, "tolerates gpu" if borne else "") if word]
    low, high = sorted((draw.randint(0, 5), draw.randint(1, 6)))
    text = (
        f"coherence: 1\ncomponents: {{web: {{copies: {low} .. {high}, returns: always"
        f"{', needs: {slots: 1}' if room else ''}}}}}\nplaces: {{{sites}}}\nplacement: {{web: [{', '.join(words)}]}}\n"
    )
    return text, naive, low, high


def _rule_text(rule: NaiveRule, *, weighed: bool) -> str:
    words = f"together by {rule.by}" if rule.together else f"spread by {rule.by} <= {rule.at_most}"
    return words if rule.must else f"prefer {words}{f' weight {rule.weight}' if weighed else ''}"


def _like_text(like: NaiveLike, *, weighed: bool) -> str:
    words = f"prefer {'' if like.wanted else 'not '}on zone {like.zone}"
    return f"{words} weight {like.weight}" if weighed else words


def place_difference(seed: int) -> str:
    text, naive, low, high = random_places(seed)
    there = cluster(known(subject(text)), "web", soft=False)
    found = [placement(there, low, high, evicted=evicted).verdict for evicted in (False, True)]
    wanted = [naive.placement(low, high, evicted=evicted) for evicted in (False, True)]
    return "" if found == wanted else f"{seed}: {found}, not {wanted}\n{text}"


def chase_difference(seed: int) -> str:
    text, naive, _, high = random_places(seed)
    draw = random.Random(seed + 10_000)  # noqa: S311
    drawn = draw.sample(["zone", "node", "node"], 2)
    members, limits = min(high, 5), [(by, draw.choice([">", ">", "<"]), draw.randint(1, 3)) for by in drawn]
    loops = "".join(
        f"  e{k}: {{trigger: count of web by {by} {op} {number}, actuation: {{evict: web}}}}\n"
        for k, (by, op, number) in enumerate(limits)
    )
    design = read_text(f"{text}loops:\n{loops}")
    evictors = [evictor("web", loop.trigger.tree, name) for name, loop in design.loops.items()]  # type: ignore[union-attr]
    named = [one for one in evictors if one is not None]
    labels = tuple(dict.fromkeys(label for one in named for label in one.labels))
    there = replace(cluster(known(Subject(design)), "web", by=labels), summed=naive.summed)
    found, wanted = chase(named, there, members, {}), naive.chase(members, limits)
    if wanted == "blocked":  # what cannot be placed at all is told apart only where the triggers are looked at
        return "" if found.verdict in ("blocked", "certain", "idle", "none") else f"{seed}: {found.verdict}\n{text}"
    state = found.first
    for edge in found.cycle:
        assert state is not None
        assert any(sorted(map(sorted, m.to)) == sorted(map(sorted, edge.to)) for m in moves(named, there, state, {}))
        state = edge.to
    verdict = "quiet" if found.verdict in ("none", "idle") else found.verdict
    return "" if verdict == wanted else f"{seed}: {verdict}, not {wanted}\n{text}{limits}"


def loss_difference(seed: int) -> str:
    text, naive, low, high = random_places(seed)
    draw = random.Random(seed + 20_000)  # noqa: S311
    going = {f"n{n}": draw.choice(["lost", "drained"]) for n in range(4) if draw.random() < 0.5}
    for name, kind in going.items():
        text = text.replace(f"{name}: {{zone", f"{name}: {{{kind}: 1, zone")
    there, facts = cluster(known(subject(text)), "web", by=("node",), soft=False), known(subject(text))
    classes = {
        (k, kind): 1
        for k, site in enumerate(there.sites) if site.room != 0
        for kind in ("lost", "drained") if any(kind in facts.design.places[name] for name in site.name.split(", "))
    }  # fmt: skip
    found, wanted = (
        losses(there, classes, max(low, 1), high).verdict,
        naive.loss(max(low, 1), high, list(going.items())),
    )
    return "" if found == wanted else f"{seed}: {found}, not {wanted}\n{text}"


@pytest.mark.parametrize("block", range(4))
def test_random_losses_and_drains_agree_with_plain_enumeration(block: int) -> None:
    assert not list(filter(None, map(loss_difference, range(50 * block, 50 * block + 50))))


@pytest.mark.parametrize("block", range(4))
def test_random_selectors_and_taints_agree_with_plain_enumeration(block: int) -> None:
    assert not list(filter(None, map(place_difference, range(50 * block, 50 * block + 50))))


@pytest.mark.parametrize("block", range(4))
def test_random_pairs_of_evictors_and_weights_agree_with_plain_enumeration(block: int) -> None:
    assert not list(filter(None, map(chase_difference, range(50 * block, 50 * block + 50))))


def test_two_evictors_of_one_thing_are_one_proof_and_one_that_goes_on_opens_the_other() -> None:
    rules = "spread by node <= 1"
    (both,) = answers(evictor_vs_placer, TWO.format(copies=3, rules=rules, node=1, zone=2))
    assert (both.verdict, both.of) == (Verdict.PROVED, ("dup", "zones", "web"))
    found = {f.of[0]: f for f in answers(evictor_vs_placer, TWO.format(copies=4, rules=rules, node=2, zone=2))}
    assert found["zones"].verdict is Verdict.CONFLICT
    assert found["dup"].verdict is Verdict.UNDECIDED
    assert "not decided beside zones, which evicts the same members" in found["dup"].message


def test_a_taint_closes_a_place_and_a_selector_takes_it_out_of_the_count() -> None:
    text = (
        "coherence: 1\ncomponents: {web: {copies: 3}}\nplaces: {n1: {zone: a, taint: gpu}, n2: {zone: b}}\n"
        "placement: {web: [spread by zone <= 1RULE]}\n"
    )
    design = read_text(text.replace("RULE", ""))
    assert admissions_of(design, "web") == {"n1": "closed", "n2": "open"}
    for rule, verdict in (
        ("", Verdict.CONFLICT),
        (", tolerates gpu", Verdict.PROVED),
        (", not on zone a", Verdict.PROVED),
    ):
        (finding,) = answers(placement_feasibility, text.replace("RULE", rule))
        assert finding.verdict is verdict, rule


def test_a_thing_that_no_place_takes_is_never_placed() -> None:
    text = "coherence: 1\ncomponents: {web: {copies: 2}}\nplaces: {n1: {zone: a}}\nplacement: {web: [only on zone c]}\n"
    (finding,) = answers(placement_feasibility, text)
    assert (finding.verdict, finding.certainty) == (Verdict.CONFLICT, "certain")
    assert "takes none" in finding.evidence.witness[-1].text


def test_a_proof_beside_an_evictor_that_counts_no_places_is_open() -> None:
    text = TWO.format(copies=3, rules="spread by node <= 1", node=1, zone=2).replace(
        "count of web by zone > 2", "web.hot > 3"
    )
    (finding,) = answers(evictor_vs_placer, text)
    assert finding.verdict is Verdict.UNDECIDED
    assert "zones" in finding.message


@pytest.mark.parametrize("going", ["lost: 1", "drained: 1", "lost: 2", "lost: 1, drained: 1"])
def test_a_proof_about_places_that_go_is_checked_again_by_a_solver_that_refuses_a_wrong_one(going: str) -> None:
    text = f"""coherence: 1
components: {{web: {{copies: 4 .. 6, needs: {{slots: 1}}}}}}
places: {{node: {{count: 5, slots: 3, {going}}}}}
placement: {{web: [spread by node <= 3]}}
"""
    finding = answers(place_loss, text)[0]
    assert finding.verdict is Verdict.PROVED
    script = finding.evidence.certificate
    assert script is not None
    assert unsat(script, timeout_ms=10_000).unsat
    assert not unsat(script.replace("3)", "0)"), timeout_ms=10_000).unsat


@pytest.mark.parametrize(
    ("trigger", "rules", "tail"),
    [
        ("count of web by node > 1", "prefer spread by node <= 1", "members: none at 1 to 3, conflict at 4 and above"),
        ("count of web by node > 2", "spread by node <= 1", "members: none at 1 to 6, conflict at 7 and above"),
        ("count of web by node == 2", "spread by node <= 1", "checked up to 20"),
    ],
)
def test_more_members_than_places_bear_are_a_conflict_for_every_larger_number(
    trigger: str, rules: str, tail: str
) -> None:
    text = f"""coherence: 1
components: {{web: {{copies: 3, returns: always}}}}
places: {{node: {{count: 3}}}}
placement: {{web: [{rules}]}}
loops: {{dup: {{trigger: {trigger}, actuation: {{evict: web}}}}}}
"""
    assert tail in answers(evictor_vs_placer, text)[0].message


def test_where_room_is_short_nothing_is_said_of_larger_numbers() -> None:
    text = """coherence: 1
components: {web: {copies: 3, returns: always, needs: {slots: 1}}}
places: {node: {count: 3, slots: 4}}
placement: {web: [spread by node <= 1]}
loops: {dup: {trigger: count of web by node > 1, actuation: {evict: web}}}
"""
    assert "conflict at 4 to 12 (checked up to 12)" in answers(evictor_vs_placer, text)[0].message  # 13 have no room
