"""Schedules one copy of a server, one step at a time; compiled where numba is installed.

Each step: running requests in order of admission get their tokens (one to decode, more to prefill), then
waiting ones are admitted while sequences, tokens and blocks allow; the step takes its time; every request
whose tokens are all computed writes one more.  When blocks run out the request that came last gives up
its blocks and goes back to the head of the queue, to compute its prompt and what it wrote again, as far as
the cache does not hold it any more.

SOURCE: vLLM 0.6 to 0.19, `core/scheduler.py` and `v1/core/sched/scheduler.py` (behaviour, not text);
admission by the whole request: vllm-project/vllm pull request 37307, `scheduler_reserve_full_isl`.
"""

from __future__ import annotations

from coherence.simulate.requests.compiled import compiled
from coherence.simulate.serving.blocks import blocks_for, claim, hits, release, remember, reuse, unused
from coherence.simulate.serving.state import (
    FREE,
    HEAD,
    NONE,
    PREFILLED,
    RUNNING,
    STEPS,
    TAIL,
    WAITING,
    WRITTEN,
    CopyState,
    Cost,
    Rules,
)


@compiled
def enqueue(state: CopyState, request: int) -> None:
    """Puts a request at the end of the queue."""
    count = state.count
    state.of.behind[request] = NONE
    if count[WAITING] == 0:
        count[HEAD] = request
    else:
        state.of.behind[count[TAIL]] = request
    count[TAIL] = request
    count[WAITING] += 1


@compiled
def put_back(state: CopyState, request: int) -> None:
    """Puts a request at the head of the queue."""
    count = state.count
    state.of.behind[request] = count[HEAD] if count[WAITING] > 0 else NONE
    if count[WAITING] == 0:
        count[TAIL] = request
    count[HEAD] = request
    count[WAITING] += 1


@compiled
def preempt_last(rules: Rules, state: CopyState) -> int:
    """Takes the blocks of the running request that came last; it waits at the head of the queue.  Returns which."""
    of = state.of
    state.count[RUNNING] -= 1
    victim = state.running[state.count[RUNNING]]
    of.preempted[victim] += 1
    of.repeated[victim] += of.computed[victim]
    of.lost[victim] = of.computed[victim]
    of.computed[victim] = 0
    release(rules, state, victim)
    put_back(state, victim)
    return int(victim)


@compiled
def hold(rules: Rules, state: CopyState, request: int, tokens: int) -> bool:
    """Gives a running request the blocks for so many tokens more.  False: it was preempted itself."""
    before = state.of.computed[request]
    total = blocks_for(rules, before + tokens)
    while total - state.of.held[request] > state.count[FREE]:
        if preempt_last(rules, state) == request:
            return False
    claim(rules, state, request, total)
    if rules.caching:
        remember(rules, state, request, before, before + tokens)
    return True


@compiled
def plan_running(rules: Rules, state: CopyState) -> int:
    """Plans tokens for the requests that run already, in order.  Returns the tokens left of the step."""
    of, running, planned, count, left, slot = state.of, state.running, state.planned, state.count, rules.tokens, 0
    computed, written, prompt, held = of.computed, of.written, of.prompt, of.held
    while slot < count[RUNNING]:
        request = running[slot]
        before = computed[request]
        tokens = min(prompt[request] + written[request] - before, left)
        room = held[request] * rules.block  # without a new block no other one becomes full before its last place
        if before + tokens >= room and tokens > 0 and not hold(rules, state, request, tokens):
            break
        planned[slot] = tokens
        left -= tokens
        slot += 1
    return left


@compiled
def fits(rules: Rules, state: CopyState, request: int, places: int, tokens: int) -> bool:
    """Are there free blocks for so many tokens, of which the first `places` blocks are in the cache?"""
    return bool(blocks_for(rules, tokens) - places + unused(state, request, places) <= state.count[FREE])


@compiled
def admit(rules: Rules, state: CopyState, left: int) -> int:
    """Admits waiting requests while sequences, tokens and blocks allow.  Returns how many."""
    of, count = state.of, state.count
    before = count[RUNNING]
    while count[RUNNING] < rules.sequences and left > 0 and count[WAITING] > 0:
        request = count[HEAD]
        total = of.prompt[request] + of.written[request]
        places = hits(rules, state, request, total) if rules.caching else 0
        ready = places * rules.block
        if of.preempted[request] == 0:
            ready = max(ready, min(of.given[request], total - 1))
        tokens = total - ready
        if tokens > left and not rules.mixed:
            break
        tokens = min(tokens, left)
        if not fits(rules, state, request, places, total if rules.whole else ready + tokens):
            break
        count[HEAD] = of.behind[request]
        count[WAITING] -= 1
        start(rules, state, request, places, ready, tokens)
        left -= tokens
    return int(count[RUNNING] - before)


@compiled
def start(rules: Rules, state: CopyState, request: int, places: int, ready: int, tokens: int) -> None:
    """Puts a request at the end of the running batch with what is ready of it, its first tokens and blocks."""
    of, count = state.of, state.count
    state.running[count[RUNNING]], state.planned[count[RUNNING]] = request, tokens
    count[RUNNING] += 1
    if rules.caching:
        reuse(state, request, places)
    claim(rules, state, request, blocks_for(rules, ready + tokens))
    if rules.caching:
        remember(rules, state, request, places * rules.block, ready + tokens)
    of.computed[request] = ready
    if of.preempted[request] > 0:
        of.repeated[request] -= min(ready, of.lost[request])
    elif places > 0:
        of.cached[request] = places * rules.block
    if of.scheduled[request] != of.scheduled[request]:  # not a number: never before
        of.scheduled[request] = state.clock[0]


@compiled
def plan(rules: Rules, state: CopyState) -> int:
    """Decides the tokens of the next step.  Returns the number of requests that run."""
    count = state.count
    if rules.mixed:
        waited = count[WAITING]
        left = plan_running(rules, state)
        if count[WAITING] == waited:  # nobody is admitted in a step that had to preempt
            admit(rules, state, left)
    else:
        state.planned[: count[RUNNING]] = 0
        if admit(rules, state, rules.tokens) == 0:
            plan_running(rules, state)
    return int(count[RUNNING])


@compiled
def duration(cost: Cost, state: CopyState) -> float:
    """Returns the seconds of the planned step."""
    of, prefill, sequences, context, tokens = state.of, 0, 0, 0, 0
    computed, written, prompt = of.computed, of.written, of.prompt
    running, planned = state.running, state.planned
    for slot in range(state.count[RUNNING]):
        if planned[slot] == 0:
            continue
        request = running[slot]
        sequences += 1
        tokens += planned[slot]
        context += computed[request]
        if written[request] == 0 or computed[request] + 1 < prompt[request] + written[request]:
            prefill += planned[slot]
    state.count[PREFILLED] += prefill
    seconds = cost.fixed + cost.prefill * prefill + cost.sequence * sequences + cost.context * context
    return float(seconds + cost.experts[tokens])


@compiled
def finish(rules: Rules, state: CopyState, end: float) -> None:
    """Ends the step: requests whose tokens are all computed write one; those that have all theirs leave."""
    of, running, planned, goes_on, new = state.of, state.running, state.planned, 0, 0
    computed, written, prompt, output = of.computed, of.written, of.prompt, of.output
    for slot in range(state.count[RUNNING]):
        request = running[slot]
        computed[request] += planned[slot]
        if computed[request] == prompt[request] + written[request]:
            new += 1
            written[request] += 1
            if written[request] == 1:
                of.first[request] = end
            if written[request] == output[request]:
                of.last[request] = end
                release(rules, state, request)
                continue
        running[goes_on] = request
        goes_on += 1
    state.count[RUNNING] = goes_on
    state.count[WRITTEN] += new
    state.count[STEPS] += 1
    state.clock[0] = end
