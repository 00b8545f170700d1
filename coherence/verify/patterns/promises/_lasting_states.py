"""Finds states that keep all demands of a group: what a design with targets that contradict each other has not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coherence.findings.finding import Evidence, Finding, Grade
from coherence.findings.question_input import Question, Subject
from coherence.language.expressions import names as used
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.satisfiability import SatQuery, SatState, plain, solve_query
from coherence.verify.facts.state_ranges import in_whole_steps, stated
from coherence.verify.patterns.promises._requirements import Requirement, requirements
from coherence.verify.queues.latencies import demands_in


def demand_groups(demands: Sequence[Requirement], facts: DesignFacts) -> list[list[Requirement]]:
    """Returns the demands joined by the names that are not fixed."""
    groups: list[tuple[set[str], list[Requirement]]] = []
    for demand in demands:
        open_ = {name for name in used(demand.tree) if not (name in facts.values and facts.values[name].exact)}
        names, members = set(open_) or {demand.name}, [demand]
        apart = []
        for other, rest in groups:
            if other & names:
                names, members = names | other, rest + members
            else:
                apart.append((other, rest))
        groups = [*apart, (names, members)]
    return [members for _, members in groups]


def lasting_state(facts: DesignFacts, demands: Sequence[Requirement]) -> tuple[SatQuery, SatState] | None:
    """Returns a state that keeps all demands while it lasts, in which what moves in whole steps is whole."""
    trees = tuple(plain(demand.tree, steady=True) for demand in demands)
    query = SatQuery(trees, stated(facts, {name for tree in trees for name in used(tree)}), in_whole_steps(facts))
    state = solve_query(query)
    return (query, state) if isinstance(state, SatState) else None


def kept_together(question: Question, subject: Subject) -> Iterator[Finding]:
    """Yields a proof for each group of demands that a state of the commands keeps; no other name is open in it."""
    facts = known(subject)
    for group in demand_groups(list(requirements(subject, facts)), facts):
        names = {name for demand in group for name in used(demand.tree)}
        latency = any(True for demand in group for _ in demands_in(facts, demand.stated))
        keeping = (
            lasting_state(facts, group) if not latency and all(_commanded(facts, name) for name in names) else None
        )
        if keeping is not None:
            yield _proof(question, facts, group, keeping)


def _commanded(facts: DesignFacts, name: str) -> bool:
    """Returns whether a name has one value, or any of a range that a loop chooses from."""
    return name in facts.written or (name in facts.values and facts.values[name].exact)


def _proof(
    question: Question, facts: DesignFacts, group: Sequence[Requirement], keeping: tuple[SatQuery, SatState]
) -> Finding:
    query, state = keeping
    signals = dict.fromkeys(name for demand in group for name in used(demand.tree) if name in facts.written)
    writers = [writer.name for name in signals for writer in facts.written[name]]
    texts = " and ".join(f"{demand.name} ({demand.text})" for demand in group)
    values = ", ".join(f"{name} = {state.at[name]}" for name in signals if name in state.at)
    message = f"a state keeps {texts}" + (f": {values}" if values else "")
    evidence = Evidence(Grade.PROVED, "a state, by solver", certificate=query.state_script(state))
    places = [demand.place for demand in group]
    return question.absent(message, places, (*(demand.name for demand in group), *writers), evidence)
