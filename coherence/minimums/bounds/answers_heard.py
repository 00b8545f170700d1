"""messages before an answer: how many holders of data must be heard before an answer that more data may take back.

## What
n - 1 messages where n hold data and the answer is not monotone (a count, the absence of something, the newest): a
holder that nobody has heard from may have what changes it.  An answer that only grows (monotone) needs none; where data
is placed by key, the absence of a key is known from its owner alone.

## Why it matters
It tells what coordination a question costs before it is written; a form of the question that only grows needs none.

## Example
5 holders, "is nothing left?": 4 messages.

## Source
T. Ameloot, F. Neven and J. Van den Bussche, "Relational transducers for declarative networking", J. ACM 60(2), 2013;
J. Hellerstein and P. Alvaro, "Keeping CALM: when distributed consistency is easy", CACM 63(9), 2020.
"""

from __future__ import annotations

import itertools

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Status, Symbol, Trend, Witness


def unheard() -> Checked:
    """Lists every sequence of n - 2 messages among up to four holders: the first one has not heard from all."""
    for n in (2, 3, 4):
        pairs = list(itertools.permutations(range(n), 2))
        for sent in itertools.product(pairs, repeat=n - 2):
            known = [{member} for member in range(n)]
            for source, target in sent:
                known[target] |= known[source]
            if len(known[0]) == n:
                return Checked(False, f"{n} holders: {sent}")
    return Checked(True, "all sequences of one message fewer among up to four holders")


def asked_of_each(inputs: Inputs) -> int:
    """Lets every other holder send what it has, and returns the messages after which all is known."""
    holders = range(int(inputs["n"]))
    known, messages = {0}, 0
    for holder in holders[1:]:
        known.add(holder)
        messages += 1
    if known != set(holders):
        raise AssertionError("a holder was not heard")
    return messages


BOUND = Bound(
    name="answers_heard",
    group="consistency",
    quantity="messages before an answer that more data may take back",
    unit="1",
    kind=Status.TIGHT,
    loss="none",
    symbols=(Symbol("n", "1", "holders of data, the one that answers included", Trend.RISES, least=1, whole=True),),
    formula="n - 1",
    assumptions=("not_monotone", "late_messages", "unknown_places"),
    source="Ameloot, Neven and Van den Bussche 2013; Hellerstein and Alvaro 2020",
    examples=(
        Example({"n": 5}, 4.0, "each of the others once"),
        Example({"n": 1}, 0.0, "nobody else"),
    ),
    proofs=(Recheck("enumeration", "who can have been heard after fewer messages", unheard),),
    witness=Witness("each holder sends once", asked_of_each),
    telemetry=("messages of a question",),
    unread="no key states which members hold data, and whether more of it may take an answer back",
)
