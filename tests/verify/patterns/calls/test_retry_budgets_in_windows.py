"""A budget of retries that is a share of what is sent in a window, beside a plain client that keeps it."""

from __future__ import annotations

from collections import deque

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.calls.call_graph import call_tree
from coherence.verify.patterns.calls._load_amplification import loads

DESIGN = """coherence: 1
workload: {{users: {{rate: 10 req/s, service: {{mean: 10 ms, cv: 1}}}}}}
components: {{backend: {{copies: 1}}}}
calls: [{{from: users, to: backend, per_try: 500 ms, tries: {tries}, on_timeout: abandon, budget: retries}}]
limits: {{retries: {{counts: users.retries, at_most: {share}, window: {window} s, when_full: reject}}}}
"""


def kept(tries: int, share: float, window: int, *, of_first: bool) -> float:
    """Returns sends per first try of a client of which every try times out, a budget of it kept at each retry."""
    step, per_try, until = 100, 500, 3000 * window  # ms; ten first tries a second
    due: deque[tuple[int, int]] = deque()
    sent: deque[tuple[int, bool]] = deque()
    first, sends = 0, 0
    for now in range(0, until, step):
        coming = [1]
        while due and due[0][0] <= now:
            coming.append(due.popleft()[1])
        while sent and sent[0][0] <= now - 1000 * window:
            sent.popleft()
        for number in coming:
            again = sum(retry for _, retry in sent)
            counted = len(sent) - again if of_first else len(sent) + (number > 1)
            if number > 1 and again + 1 > share * counted:
                continue
            sent.append((now, number > 1))
            first, sends = first + (number == 1), sends + 1
            if number < tries:
                due.append((now + per_try, number + 1))
    return sends / first


@pytest.mark.parametrize("tries", [2, 3, 6])
@pytest.mark.parametrize("share", [0.05, 0.1, 0.3, 0.6])
@pytest.mark.parametrize("of_first", [False, True])
def test_no_client_sends_more_than_its_budget_lets_through(tries: int, share: float, *, of_first: bool) -> None:
    """The bound is reached to within the whole retries of a window, or the tries bind."""
    window = 20
    whole = f"{share * 100:g} % of users.{'first' if of_first else 'requests'}"
    subject = Subject(read_text(DESIGN.format(tries=tries, share=whole, window=window), "d.yaml"))
    (load,) = loads(subject, call_tree(subject.design))
    assert load.sends is not None
    measured = kept(tries, share, window, of_first=of_first)
    assert measured <= float(load.sends) * (1 + 1e-9)
    assert measured >= 0.93 * min(float(load.sends), tries)
