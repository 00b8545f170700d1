"""Schedules the server, one step at a time; compiled where numba is installed.

Each step: running requests in order of arrival get their tokens (one to decode, more to prefill), then
waiting ones are admitted while sequences, tokens and blocks allow; the step takes its time; every request
whose tokens are all computed writes one more.  When blocks run out the request that came last gives up
its blocks and goes back to the head of the queue, to compute its prompt and what it wrote again.

SOURCE: vLLM 0.6 to 0.19, `core/scheduler.py` and `v1/core/sched/scheduler.py` (behaviour, not text).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from coherence.simulate.requests.compiled import compiled, entry

Array = Any  # numpy arrays of float64 or int64

# places in KernelState.count
RUNNING, NEXT, ARRIVED, PUT_BACK, FREE, SAMPLES, STEPS, PREFILLED, WRITTEN = range(9)
COUNTS = 9
# columns of a sample
COLUMNS = ("time", "running", "waiting", "blocks", "prefilled", "written")


class Rules(NamedTuple):
    """`Server` as numbers."""

    sequences: int
    tokens: int
    block: int
    blocks: int
    mixed: bool


class Cost(NamedTuple):
    """`StepTime` as numbers."""

    fixed: float
    prefill: float
    sequence: float
    context: float


class KernelState(NamedTuple):
    """Everything that changes.  By request, then by place in the running batch, then single numbers."""

    arrival: Array
    prompt: Array
    output: Array
    computed: Array  # tokens in the cache
    written: Array  # tokens written so far
    held: Array  # blocks
    scheduled: Array  # times; not a number before
    first: Array
    last: Array
    preempted: Array  # how often
    repeated: Array  # tokens computed again
    put_back: Array  # stack of preempted requests, the earliest on top
    running: Array  # requests in order of arrival
    planned: Array  # tokens of this step
    count: Array
    clock: Array  # now, time of the next sample, time between samples


@compiled
def write(state: KernelState, slot: int, end: float) -> bool:
    """Account one computed request: a new token if all its tokens are in the cache.  Whether it goes on."""
    request, count = state.running[slot], state.count
    state.computed[request] += state.planned[slot]
    if state.computed[request] < state.prompt[request] + state.written[request]:
        return True
    state.written[request] += 1
    count[WRITTEN] += 1
    if state.written[request] == 1:
        state.first[request] = end
    if state.written[request] < state.output[request]:
        return True
    state.last[request] = end
    count[FREE] += state.held[request]
    state.held[request] = 0
    return False


@compiled
def preempt_last(state: KernelState) -> int:
    """Take the blocks of the running request that came last; it waits at the head of the queue.  Which it was."""
    count = state.count
    count[RUNNING] -= 1
    victim = state.running[count[RUNNING]]
    state.preempted[victim] += 1
    state.repeated[victim] += state.computed[victim]
    state.computed[victim] = 0
    count[FREE] += state.held[victim]
    state.held[victim] = 0
    state.put_back[count[PUT_BACK]] = victim
    count[PUT_BACK] += 1
    return int(victim)


@compiled
def hold(rules: Rules, state: KernelState, request: int, tokens: int) -> bool:
    """Give a running request the blocks for so many tokens more.  False: it was preempted itself."""
    total = (state.computed[request] + tokens + rules.block - 1) // rules.block
    while total - state.held[request] > state.count[FREE]:
        if preempt_last(state) == request:
            return False
    state.count[FREE] -= total - state.held[request]
    state.held[request] = total
    return True


@compiled
def plan_running(rules: Rules, state: KernelState) -> int:
    """Tokens for the requests that run already, in order of arrival.  Returns the tokens left of the step."""
    left, slot = rules.tokens, 0
    while slot < state.count[RUNNING]:
        request = state.running[slot]
        tokens = min(state.prompt[request] + state.written[request] - state.computed[request], left)
        if tokens > 0 and not hold(rules, state, request, tokens):
            break
        state.planned[slot] = tokens
        left -= tokens
        slot += 1
    return left


@compiled
def admit(rules: Rules, state: KernelState, left: int) -> int:
    """Admit waiting requests while sequences, tokens and blocks allow.  Returns how many."""
    count = state.count
    before = count[RUNNING]
    while count[RUNNING] < rules.sequences and left > 0:
        again = count[PUT_BACK] > 0
        if not again and count[NEXT] == count[ARRIVED]:
            break
        request = state.put_back[count[PUT_BACK] - 1] if again else count[NEXT]
        tokens = state.prompt[request] + state.written[request]
        if tokens > left and not rules.mixed:
            break
        tokens = min(tokens, left)
        blocks = (tokens + rules.block - 1) // rules.block
        if blocks > count[FREE]:
            break
        count[PUT_BACK if again else NEXT] += -1 if again else 1
        start(state, request, tokens, blocks)
        left -= tokens
    return int(count[RUNNING] - before)


@compiled
def start(state: KernelState, request: int, tokens: int, blocks: int) -> None:
    """Put a request at the end of the running batch with its first tokens and blocks."""
    count = state.count
    state.running[count[RUNNING]], state.planned[count[RUNNING]] = request, tokens
    count[RUNNING] += 1
    count[FREE] -= blocks
    state.held[request] = blocks
    if state.scheduled[request] != state.scheduled[request]:  # not a number: never before
        state.scheduled[request] = state.clock[0]


@compiled
def plan(rules: Rules, state: KernelState) -> int:
    """Decide the tokens of the next step.  Returns the number of requests that run."""
    count = state.count
    while count[ARRIVED] < len(state.arrival) and state.arrival[count[ARRIVED]] <= state.clock[0]:
        count[ARRIVED] += 1
    if rules.mixed:
        back = count[PUT_BACK]
        left = plan_running(rules, state)
        if count[PUT_BACK] == back:  # nobody is admitted in a step that had to preempt
            admit(rules, state, left)
    else:
        state.planned[: count[RUNNING]] = 0
        if admit(rules, state, rules.tokens) == 0:
            plan_running(rules, state)
    return int(count[RUNNING])


@compiled
def duration(cost: Cost, state: KernelState) -> float:
    """Seconds of the planned step."""
    prefill, sequences, context = 0, 0, 0
    for slot in range(state.count[RUNNING]):
        if state.planned[slot] == 0:
            continue
        request = state.running[slot]
        sequences += 1
        context += state.computed[request]
        if state.written[request] == 0 or state.computed[request] + 1 < state.prompt[request] + state.written[request]:
            prefill += state.planned[slot]
    state.count[PREFILLED] += prefill
    return cost.fixed + cost.prefill * prefill + cost.sequence * sequences + cost.context * context


@compiled
def finish(state: KernelState, end: float) -> None:
    """The step is over: tokens are written, the requests that have all theirs leave."""
    running = 0
    for slot in range(state.count[RUNNING]):
        if write(state, slot, end):
            state.running[running] = state.running[slot]
            running += 1
    state.count[RUNNING] = running
    state.count[STEPS] += 1
    state.clock[0] = end


@compiled
def observe(rules: Rules, state: KernelState, samples: Array) -> None:
    """Write a sample if one is due, and always when the server falls idle."""
    count, clock = state.count, state.clock
    while count[ARRIVED] < len(state.arrival) and state.arrival[count[ARRIVED]] <= clock[0]:
        count[ARRIVED] += 1
    if clock[0] < clock[1] and count[RUNNING] > 0:
        return
    row = samples[count[SAMPLES]]
    row[0], row[1], row[2] = clock[0], count[RUNNING], count[ARRIVED] - count[NEXT] + count[PUT_BACK]
    row[3], row[4], row[5] = rules.blocks - count[FREE], count[PREFILLED], count[WRITTEN]
    count[SAMPLES] += 1
    if clock[0] >= clock[1]:
        clock[1] = (clock[0] // clock[2] + 1) * clock[2]


@entry
def advance(rules: Rules, cost: Cost, state: KernelState, until: float, samples: Array) -> bool:
    """Take steps that begin before `until`.  True when there is nothing more to do, False when `samples` is full."""
    count, clock = state.count, state.clock
    while clock[0] < until:
        if count[SAMPLES] == len(samples):
            return False
        if plan(rules, state) > 0:
            finish(state, clock[0] + duration(cost, state))
            observe(rules, state, samples)
        elif count[NEXT] < len(state.arrival):
            clock[0] = min(state.arrival[count[NEXT]], until)
        else:
            return True
    return True
