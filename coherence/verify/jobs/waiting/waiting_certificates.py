"""Writes certificates that no job waits for ever: a rank of states that never rises while one waits and is passed over.

Where the rank stays, one party is obliged in every state and never acts, so no fair run stays there.  The rank of a
state, and its party, are numbers of the script; who waits, is let in, is obliged and acts is computed by the solver.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.base.graphs import components
from coherence.base.solver import joined
from coherence.verify.jobs.certificates import flat
from coherence.verify.jobs.contest import Contest
from coherence.verify.jobs.contest_steps import SCHEDULER, TAKE, VAIN
from coherence.verify.jobs.job_states import CODED_BELOW, LEAVING, PHASES, POOL, RANKS
from coherence.verify.jobs.waiting.fair_parties import ALL, FairParties, JobParty, PassState
from coherence.verify.jobs.waiting.starvation import fitting, passed_over

MOST_TERMS = 400_000
OTHERS, ADMITS, TAKES = range(3)  # who takes a step
OF_A_JOB = f"""(define-fun rest ((x Int)) Int (- (- {-CODED_BELOW}) x))
(define-fun leaving ((x Int)) Bool (and (<= 0 (rest x)) (= (mod (rest x) {PHASES}) {LEAVING})))
(define-fun lying ((x Int)) Int (ite (<= 0 x) x (ite (<= 0 (rest x)) (div (div (rest x) {PHASES}) {RANKS}) 0)))
(define-fun held ((x Int)) Int (mod (lying x) {POOL}))
(define-fun kept ((x Int)) Int (ite (leaving x) 0 (held x)))
(define-fun wants ((x Int) (members Int) (least Int)) Bool
  (and (< (held x) least) (or (and (<= 0 x) (< x members)) (and (<= 0 (rest x)) (not (leaving x))))))
(define-fun pool ((x Int)) Int (div (lying x) {POOL}))
(define-fun runs ((x Int) (least Int) (p Int)) Int (ite (and (<= least x) (= (pool x) p)) 1 0))
(define-fun leaves ((x Int) (p Int)) Int (ite (and (leaving x) (= (pool x) p)) (held x) 0))
"""


def none_waits_for_ever(proof: FairParties) -> str | None:
    """Returns a script for each kind of jobs that fit alone, joined; None where they are too long."""
    steps, kinds = sum(map(len, proof.graph.edges.values())), fitting(proof.contest)
    if steps * len(kinds) * sum(kind.number for kind in proof.contest.kinds) > MOST_TERMS:
        return None
    return joined(let_in(proof, k, *ranks_of(proof, k)) for k in kinds)


def ranks_of(proof: FairParties, k: int) -> tuple[dict[PassState, int], dict[PassState, int]]:
    """Returns for each state in which a job of the kind waits its rank, and the party that is wronged there."""
    rank, party, steps = dict[PassState, int](), dict[PassState, int](), passed_over(proof.contest, proof.graph, k)
    for number, group in enumerate(components(steps)):
        rank |= dict.fromkeys(group, number)
        lasts = len(group) > 1 or group[0] in steps[group[0]]
        party |= dict.fromkeys(group, proof.neglected(group) if lasts else 0)
    return rank, party


def let_in(proof: FairParties, k: int, rank: dict[PassState, int], party: dict[PassState, int]) -> str:
    """Returns the script for one kind: every step of the relation keeps to the ranks, and nobody waits at its end."""
    contest, graph = proof.contest, proof.graph
    number = {state: n for n, state in enumerate(graph.edges)}
    width = len(flat(next(iter(number))[0]))
    lines = []
    for state, n in number.items():
        values = (*flat(state[0]), rank.get(state, 0), party.get(state, 0))
        words = [*(f"x{i}" for i in range(width)), "r", "p"]
        lines += [f"(define-fun s{n}{word} () Int {_int(x)})" for word, x in zip(words, values, strict=True)]
        actors = " ".join(f"(distinct {_actor(edge.kind)} {OTHERS})" for edge in graph.edges[state])
        lines.append(f"(define-fun s{n}m () Bool (or false {actors}))")
    claims = [
        f"(keeps {_actor(edge.kind)} {_named(number[s], width)} {_named(number[edge.to], width)})"
        for s, edges in graph.edges.items() for edge in edges
    ]  # fmt: skip
    claims += [f"(not (waits {_row(number[s], width)}))" for s in graph.quiet]
    return "\n".join([
        "(set-logic QF_LIA)", OF_A_JOB.strip(), *_of_states(contest, proof, k), *lines,
        "(assert (not (and true", *(f"  {claim}" for claim in claims), ")))", "(check-sat)\n",
    ])  # fmt: skip


def _actor(kind: str) -> int:
    return TAKES if kind in (TAKE, VAIN) else ADMITS if kind in SCHEDULER else OTHERS


def _row(n: int, width: int) -> str:
    return " ".join(f"s{n}x{i}" for i in range(width))


def _named(n: int, width: int) -> str:
    return f"{_row(n, width)} s{n}r s{n}p s{n}m"


def _int(x: int) -> str:
    return str(x) if x >= 0 else f"(- {-x})"


def _of_states(contest: Contest, proof: FairParties, k: int) -> Iterator[str]:
    """Yields the functions of a state, and that of a step which has to hold of all."""
    slots = list(_slots(contest))
    xs, ys = ([f"{letter}{i}" for row in slots for i in row] for letter in "xy")
    own, kind = slots[k], contest.kinds[k]
    wants = " ".join(f"(wants x{i} {kind.members} {kind.barrier})" for i in own)
    more = f"(> {_sum('kept', 'y', own)} {_sum('kept', 'x', own)})"
    both = f"(a Int) {_typed(xs)} {_typed(ys)}"
    yield f"(define-fun waits ({_typed(xs)}) Bool (or false {wants}))"
    yield f"(define-fun served ({both}) Bool (and (distinct a {OTHERS}) {more}))"
    yield f"(define-fun obliged ((p Int) (m Bool) {_typed(xs)}) Bool (or (and (= p {ALL}) m) {_obliged(proof)}))"
    yield f"(define-fun acts ((p Int) {both}) Bool (or (and (= p {ALL}) (distinct a {OTHERS})) {_acts(proof)}))"
    of_x, of_y = f"{_typed(xs)} (r Int) (p Int) (m Bool)", f"{_typed(ys)} (R Int) (P Int) (M Bool)"
    x, y = " ".join(xs), " ".join(ys)
    stays = f"(and (= r R) (= p P) (obliged p m {x}) (obliged P M {y}) (not (acts p a {x} {y})))"
    passed = f"(and (waits {x}) (waits {y}) (not (served a {x} {y})))"
    yield f"(define-fun keeps ((a Int) {of_x} {of_y}) Bool (=> {passed} (or (> r R) {stays})))"


def _slots(contest: Contest) -> Iterator[range]:
    """Yields the numbers of the jobs of each kind, in a flat state."""
    start = 0
    for kind in contest.kinds:
        yield range(start, start + kind.number)
        start += kind.number


def _present(proof: FairParties, own: JobParty, letter: str) -> str:
    """Returns how many jobs of a party run, or members of it are leaving."""
    slots, least = list(_slots(proof.contest))[own.kind], proof.contest.kinds[own.kind].barrier
    call = f"(leaves {{}} {own.pool})" if own.leaving else f"(runs {{}} {least} {own.pool})"
    return f"(+ 0 0 {' '.join(call.format(f'{letter}{i}') for i in slots)})"


def _obliged(proof: FairParties) -> str:
    rows = enumerate(proof.jobs, ALL + 1)
    return " ".join(f"(and (= p {party}) (< 0 {_present(proof, own, 'x')}))" for party, own in rows)


def _acts(proof: FairParties) -> str:
    swaps = [f"(= a {TAKES})" if own.kind in proof.swapped and not own.leaving else "false" for own in proof.jobs]
    falls = [f"(< {_present(proof, own, 'y')} {_present(proof, own, 'x')})" for own in proof.jobs]
    rows = enumerate(zip(falls, swaps, strict=True), ALL + 1)
    return " ".join(f"(and (= p {party}) (or {fall} {swap}))" for party, (fall, swap) in rows)


def _sum(word: str, letter: str, own: range) -> str:
    return f"(+ 0 0 {' '.join(f'({word} {letter}{i})' for i in own)})"


def _typed(variables: list[str]) -> str:
    return " ".join(f"({name} Int)" for name in variables)
