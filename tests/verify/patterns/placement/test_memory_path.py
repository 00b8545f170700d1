"""Memory-path incoherence beside a plain server that is run step by step, without the engine."""

from __future__ import annotations

import pytest

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.simulate.serving.of_design import engines_of, load_of
from coherence.verify.patterns.placement.memory_path import SECONDS, SEED, ask

BLOCK = 16
TEXT = """coherence: 1
workload: {{chat: {{rate: {rate} req/s, prompt: {prompt} token, answer: {answer} token}}}}
components:
  engine:
    {{uses: inference_server, step_time: 10 ms, per_prompt_token: 0 s/token, blocks: {blocks} block,
     max_num_seqs: {sequences}, prefix_cache: 0}}
calls: [{{from: chat, to: engine}}]
"""


def answers(text: str) -> list[Finding]:
    """Returns what is answered about a text."""
    return list(ask(Subject(read_text(text, "d"), {"d": text})))


def put_back(text: str, prompt: int, answer: int, blocks: int, sequences: int) -> tuple[int, float]:
    """Returns how often requests of one length are put back, and the share of sequences free while others wait."""
    arrivals = [*load_of(engines_of(read_text(text, "d"), first_burst=0.0)[0], seed=SEED, until=SECONDS).arrival]
    waiting, running, times, spare = list[int](), list[list[int]](), 0, list[float]()
    clock, come = 0.0, 0

    def held(tokens: int) -> int:
        return -(-tokens // BLOCK)

    while clock < SECONDS:
        while come < len(arrivals) and arrivals[come] <= clock:
            waiting, come = [*waiting, 0], come + 1
        evicted = 0
        for own in list(running):
            if own not in running:
                continue
            while sum(held(tokens) for tokens, _ in running) - held(own[0]) + held(own[0] + 1) > blocks:
                _, written = running.pop()
                waiting, evicted = [written, *waiting], evicted + 1
                if own not in running:
                    break
            else:
                own[0] += 1
        times += evicted
        while not evicted and waiting and len(running) < sequences:
            tokens = prompt + waiting[0]
            if sum(held(tokens) for tokens, _ in running) + held(tokens) > blocks:
                break
            running.append([tokens, waiting.pop(0)])
        for own in running:
            own[1] += 1
        running = [own for own in running if own[1] < answer]
        spare += [1 - len(running) / sequences] if waiting else []
        clock += 0.01
    return times, sum(spare) / len(spare) if spare else 0.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "blocks", "sequences"), [(30, 100, 20), (2, 100, 20), (30, 130, 20), (30, 250, 20), (12, 60, 16)]
)
def test_the_verdict_is_that_of_a_plain_server(rate: int, blocks: int, sequences: int) -> None:
    text = TEXT.format(rate=rate, prompt=64, answer=120, blocks=blocks, sequences=sequences)
    times, spare = put_back(text, 64, 120, blocks, sequences)
    found = answers(text)
    if sequences * -(-(64 + 120 - 1) // BLOCK) <= blocks:
        assert times == 0
        assert [finding.verdict for finding in found] == [Verdict.PROVED]
    else:
        assert [finding.verdict for finding in found] == [Verdict.CONFLICT] * (times > 0 and spare > 0.05)


def test_a_longest_request_that_is_not_stated_is_asked_for() -> None:
    text = TEXT.format(rate=1, prompt=64, answer="{mean: 100}", blocks=5000, sequences=2)
    (finding,) = answers(text.replace("{mean: 100} token", "{mean: 100 token}"))
    assert finding.verdict is Verdict.UNDECIDED
    assert finding.message == "needs the longest prompt and answer (`max`) of what engine serves"


def test_a_server_that_nobody_calls_is_not_asked_about() -> None:
    text = TEXT.format(rate=1, prompt=64, answer=100, blocks=50, sequences=2)
    assert answers(text.replace("calls: [{from: chat, to: engine}]", "")) == []
