"""The inference server against a plain scheduler, request by request.

`Copy` is written from what the scheduler does in one step, with lists and whole numbers, and shares nothing with
the engine: those that run get their tokens first, in order; one that finds no free block puts back the last one that
runs, to the head of the queue; nobody is admitted in a step that put one back.  A block keeps what it holds until it is
taken again, and free blocks are taken in the order in which they became free.
SOURCE: vLLM 0.8 to 0.19 (V1), v1/core/sched/scheduler.py: Scheduler.schedule; v1/core/kv_cache_manager.py:
allocate_slots, get_computed_blocks; v1/core/block_pool.py; v1/engine/core_client.py: DPLBAsyncMPClient.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

from coherence.language.reading import read_text
from coherence.simulate.serving.engine import serve
from coherence.simulate.serving.of_design import Engine, engines_of
from coherence.simulate.serving.server import load
from tests.draws import source, trace_counts

TICK = Fraction(1, 1024)  # s: all times are whole numbers of it, so that floats are exact
Name = tuple[str, int, int]


@dataclass(eq=False)
class Block:
    """A block of the cache: what it holds when it is full, and how many use it."""

    holds: Name | None = None
    users: int = 0


@dataclass(eq=False)
class Request:
    """One request: when it comes (ticks), its tokens, the prefix that it shares, and what there is of it."""

    number: int
    arrival: int
    prompt: int
    output: int
    prefix: int
    shared: int  # blocks
    written: int = 0
    computed: int = 0
    blocks: list[Block] = field(default_factory=list)
    first: int = -1
    last: int = -1

    @property
    def tokens(self) -> int:
        return self.prompt + self.written

    def name(self, place: int) -> Name:
        """Returns what its block at a place holds: its prefix up to there, or everything of its own."""
        return ("prefix", self.prefix, place) if place < self.shared else ("own", self.number, place)


@dataclass
class Machine:
    """Requests at once, tokens of a step, blocks and their size, whether requests are admitted whole and blocks found
    again; ticks of a step and of its parts; copies."""

    most: int
    budget: int
    blocks: int
    size: int
    whole: bool
    caching: bool
    copies: int
    step: int
    per_prompt: int
    per_request: int
    per_cached: int


class Copy:
    """One copy: its queue, what runs, its free blocks in order."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.now = machine, 0
        self.waiting, self.running = list[Request](), list[Request]()
        self.all = [Block() for _ in range(machine.blocks)]
        self.free = list(self.all)

    @property
    def busy(self) -> bool:
        return bool(self.waiting or self.running)

    def take_step(self) -> None:
        plan = self.schedule()
        self.now += self.ticks(plan)
        self.update(plan)

    def schedule(self) -> list[tuple[Request, int]]:
        """Returns the requests of the next step, with their tokens."""
        left, plan, position, preempted = self.machine.budget, list[tuple[Request, int]](), 0, False
        while position < len(self.running) and left > 0:
            request = self.running[position]
            new = min(request.tokens - request.computed, left)
            while request in self.running and not self.allocated(request, new):
                self.put_back()
                preempted = True
            if request not in self.running:
                break
            plan.append((request, new))
            left -= new
            position += 1
        while not preempted and self.waiting and left > 0 and len(self.running) < self.machine.most:
            new = self.admitted(self.waiting[0], left)
            if new == 0:
                break
            self.running.append(self.waiting.pop(0))
            plan.append((self.running[-1], new))
            left -= new
        return plan

    def admitted(self, request: Request, left: int) -> int:
        """Lets a waiting request in with as many tokens as there are left; 0 where it does not fit."""
        head = list(self.cached(request)) if self.machine.caching else []
        done = len(head) * self.machine.size
        new = min(request.tokens - done, left)
        needed = -(-(request.tokens if self.machine.whole else done + new) // self.machine.size) - len(head)
        if needed > len([block for block in self.free if block not in head]):
            return 0
        for block in head:
            block.users += 1
            if block in self.free:
                self.free.remove(block)
        request.blocks, request.computed = head, done
        assert self.allocated(request, new)
        return new

    def cached(self, request: Request) -> Iterator[Block]:
        """Yields the blocks at its head that are in the cache, never that of its last token."""
        for place in range((request.tokens - 1) // self.machine.size):
            block = next((block for block in self.all if block.holds == request.name(place)), None)
            if block is None:
                return
            yield block

    def allocated(self, request: Request, new: int) -> bool:
        """Gives a request the blocks for so many tokens more, if they are there, and names those that get full."""
        size, held = self.machine.size, len(request.blocks)
        more = -(-(request.computed + new) // size) - held
        if more > len(self.free):
            return False
        for _ in range(more):
            block = self.free.pop(0)
            block.holds, block.users = None, 1
            request.blocks.append(block)
        for place in range(request.computed // size, (request.computed + new) // size if self.machine.caching else 0):
            name = request.name(place)
            others = [block for block in self.all if block.holds == name]
            if others and name[0] == "own":  # computed again because a block before it was gone: the newer one is found
                others[0].holds = None
            if not others or name[0] == "own":
                request.blocks[place].holds = name
        return True

    def put_back(self) -> None:
        victim = self.running.pop()
        self.let_go(victim)
        victim.computed = 0
        self.waiting.insert(0, victim)

    def let_go(self, request: Request) -> None:
        for block in reversed(request.blocks):
            block.users -= 1
            if block.users == 0:
                self.free.append(block)
        request.blocks = []

    def ticks(self, plan: list[tuple[Request, int]]) -> int:
        """Returns how long a step lasts: the token that is written next is no prompt token."""
        machine = self.machine
        prompts = sum(new for request, new in plan if not request.written or request.computed + 1 < request.tokens)
        cached = sum(request.computed for request, _ in plan)
        seconds = machine.step + machine.per_prompt * prompts
        return seconds + machine.per_request * len(plan) + machine.per_cached * cached

    def update(self, plan: list[tuple[Request, int]]) -> None:
        for request, new in plan:
            request.computed += new
            if request.computed < request.tokens:
                continue
            request.written += 1
            request.first = self.now if request.first < 0 else request.first
            if request.written == request.output:
                request.last = self.now
                self.running.remove(request)
                self.let_go(request)


def run(machine: Machine, requests: list[Request]) -> None:
    """Serves all requests; each goes to the copy with the least to do, in turn where several have the least."""
    copies, last, coming = [Copy(machine) for _ in range(machine.copies)], machine.copies - 1, list(requests)
    while coming or any(copy.busy for copy in copies):
        first = min((copy for copy in copies if copy.busy), key=lambda copy: copy.now, default=None)
        if coming and (first is None or coming[0].arrival <= first.now):
            turns = [copies[(last + 1 + turn) % len(copies)] for turn in range(len(copies))]
            copy = min(turns, key=lambda copy: 4 * len(copy.waiting) + len(copy.running))
            if not copy.busy:
                copy.now = max(copy.now, coming[0].arrival)
            copy.waiting.append(coming.pop(0))
            last = copies.index(copy)
        elif first is not None:
            first.take_step()


def drawn(rng: random.Random) -> tuple[Machine, list[Request]]:
    """Returns a machine and requests that each fit into its cache alone."""
    most, size = rng.randint(1, 6), rng.choice((1, 2, 4, 16))
    blocks = rng.randint(4, 24)
    machine = Machine(
        most, most + rng.randint(0, 40), blocks, size, rng.random() < 0.5, rng.random() < 0.7, rng.choice((1, 1, 2, 3)),
        rng.randint(1, 50), rng.randint(0, 3), rng.choice((0, 2)), rng.choice((0, 0, 1)),
    )  # fmt: skip
    requests, arrival = [], 0
    for number in range(rng.randint(1, 20)):
        arrival += rng.choice((0, rng.randint(0, 300)))
        total = rng.randint(2, min(60, blocks * size))
        prompt = rng.randint(1, total - 1)
        shared = rng.randint(0, prompt // size)
        requests.append(Request(number, arrival, prompt, total - prompt, rng.randint(0, 2), shared))
    return machine, requests


def engine(plain: Machine) -> Engine:
    """Returns the engine of the part, set as the plain one."""

    def seconds(ticks: int) -> str:
        return f"{float(ticks * TICK)!r} s"

    (built,) = engines_of(
        read_text(f"""coherence: 1
workload: {{users: {{rate: 1 req/s, prompt: 9 token, answer: 9 token}}}}
components:
  engine: {{uses: inference_server, max_num_seqs: {plain.most}, max_num_batched_tokens: {plain.budget} token,
    blocks: {plain.blocks} block, block_size: {plain.size} token, step_time: {seconds(plain.step)},
    per_prompt_token: {seconds(plain.per_prompt)}/token, per_request: {seconds(plain.per_request)},
    per_cached_token: {seconds(plain.per_cached)}/token, copies: {plain.copies},
    admits_whole: {int(plain.whole)}, prefix_cache: {int(plain.caching)}}}
calls: [{{from: users, to: engine}}]
"""),
        first_burst=0.0,
    )
    return built


@trace_counts(12, parts=200, of=("inference_server",))
def test_each_request_gets_its_first_and_last_token_when_the_scheduler_gives_them(traces: int) -> None:
    rng = source(41)
    put_back = found = 0
    for _ in range(traces):
        plain, requests = drawn(rng)
        part = engine(plain)
        arrivals = [float(request.arrival * TICK) for request in requests]
        prompts, outputs = [request.prompt for request in requests], [request.output for request in requests]
        heads = tuple(tuple(100 * r.prefix + place for place in range(r.shared)) for r in requests)
        served = serve(part.server, part.step, replace(load(arrivals, prompts, outputs), prefixes=heads))
        run(plain, requests)
        firsts, lasts = ([Fraction(t) / TICK for t in times] for times in (served.first_token, served.last_token))
        assert firsts == [request.first for request in requests], (plain, requests)
        assert lasts == [request.last for request in requests], (plain, requests)
        put_back += bool(served.preemptions.any())
        found += bool(served.cached.any())
    assert put_back > traces / 20
    assert found > traces / 20
