"""The inference server against a plain scheduler, request by request.

`Scheduler` is written from what the scheduler does in one step, with lists and whole numbers, and shares nothing with
the engine: those that run get their tokens first, in order; one that finds no free block puts back the last one that
runs, to the head of the queue, with its cache gone; nobody is admitted in a step that put one back.
SOURCE: vLLM 0.8 to 0.11 (V1), v1/core/sched/scheduler.py: Scheduler.schedule; v1/core/kv_cache_manager.py:
allocate_slots; first come, first served.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction

from coherence.language.reading import read_text
from coherence.simulate.serving.engine import serve
from coherence.simulate.serving.of_design import Engine, engines_of
from coherence.simulate.serving.server import load
from tests.draws import source, trace_counts

TICK = Fraction(1, 1024)  # s: all times are whole numbers of it, so that floats are exact


@dataclass
class Request:
    """One request: when it comes (ticks), its tokens, and what there is of it."""

    arrival: int
    prompt: int
    output: int
    written: int = 0
    computed: int = 0
    held: int = 0
    first: int = -1
    last: int = -1

    @property
    def tokens(self) -> int:
        return self.prompt + self.written


@dataclass
class Scheduler:
    """An engine: requests at once, tokens of a step, blocks and their size; ticks of a step and of its parts."""

    most: int
    budget: int
    blocks: int
    size: int
    step: int
    per_prompt: int
    per_request: int
    per_cached: int

    def run(self, requests: list[Request]) -> None:
        """Serves all of them."""
        self.free, now = self.blocks, 0
        self.waiting, self.running = list[Request](), list[Request]()
        coming = list(requests)
        while coming or self.waiting or self.running:
            while coming and coming[0].arrival <= now:
                self.waiting.append(coming.pop(0))
            plan = self.schedule()
            if not plan:
                now = coming[0].arrival
                continue
            now += self.ticks(plan)
            self.update(plan, now)

    def schedule(self) -> list[tuple[Request, int]]:
        """Returns the requests of the next step, with their tokens."""
        left, plan, position, preempted = self.budget, list[tuple[Request, int]](), 0, False
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
        while not preempted and self.waiting and left > 0 and len(self.running) < self.most:
            new = min(self.waiting[0].tokens, left)
            if not self.allocated(self.waiting[0], new):
                break
            self.running.append(self.waiting.pop(0))
            plan.append((self.running[-1], new))
            left -= new
        return plan

    def allocated(self, request: Request, new: int) -> bool:
        """Gives a request the blocks for so many tokens more, if they are there."""
        more = -(-(request.computed + new) // self.size) - request.held
        if more > self.free:
            return False
        self.free -= more
        request.held += more
        return True

    def put_back(self) -> None:
        victim = self.running.pop()
        self.free += victim.held
        victim.held = victim.computed = 0
        self.waiting.insert(0, victim)

    def ticks(self, plan: list[tuple[Request, int]]) -> int:
        """Returns how long a step lasts: the token that is written next is no prompt token."""
        prompts = sum(new for request, new in plan if not request.written or request.computed + 1 < request.tokens)
        cached = sum(request.computed for request, _ in plan)
        return self.step + self.per_prompt * prompts + self.per_request * len(plan) + self.per_cached * cached

    def update(self, plan: list[tuple[Request, int]], now: int) -> None:
        for request, new in plan:
            request.computed += new
            if request.computed < request.tokens:
                continue
            request.written += 1
            request.first = now if request.first < 0 else request.first
            if request.written == request.output:
                request.last = now
                self.running.remove(request)
                self.free += request.held


def drawn(rng: random.Random) -> tuple[Scheduler, list[Request]]:
    """Returns an engine and requests that each fit into its cache alone."""
    most, size = rng.randint(1, 6), rng.choice((1, 2, 4, 16))
    blocks = rng.randint(4, 24)
    scheduler = Scheduler(
        most, most + rng.randint(0, 40), blocks, size, rng.randint(1, 50), rng.randint(0, 3), rng.choice((0, 2)),
        rng.choice((0, 0, 1)),
    )  # fmt: skip
    requests, arrival = [], 0
    for _ in range(rng.randint(1, 20)):
        arrival += rng.choice((0, rng.randint(0, 300)))
        total = rng.randint(2, min(60, blocks * size))
        prompt = rng.randint(1, total - 1)
        requests.append(Request(arrival, prompt, total - prompt))
    return scheduler, requests


def engine(plain: Scheduler) -> Engine:
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
    per_cached_token: {seconds(plain.per_cached)}/token}}
calls: [{{from: users, to: engine}}]
"""),
        first_burst=0.0,
    )
    return built


@trace_counts(30, parts=200, of=("inference_server",))
def test_each_request_gets_its_first_and_last_token_when_the_scheduler_gives_them(traces: int) -> None:
    rng = source(41)
    put_back = 0
    for _ in range(traces):
        plain, requests = drawn(rng)
        part = engine(plain)
        arrivals = [float(request.arrival * TICK) for request in requests]
        prompts, outputs = [request.prompt for request in requests], [request.output for request in requests]
        served = serve(part.server, part.step, load(arrivals, prompts, outputs))
        plain.run(requests)
        firsts, lasts = ([Fraction(t) / TICK for t in times] for times in (served.first_token, served.last_token))
        assert firsts == [request.first for request in requests], (plain, requests)
        assert lasts == [request.last for request in requests], (plain, requests)
        put_back += bool(served.preemptions.any())
    assert put_back > traces / 20
