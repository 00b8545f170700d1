"""Models of registers: in copies (when a write is over, how long a read looks), and shared by processes that agree."""

from __future__ import annotations

import itertools
from fractions import Fraction

from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError
from coherence.minimums.bound import Inputs
from coherence.minimums.bounds._one_round_reads import exists
from coherence.minimums.bounds.randomised_agreement_steps import decides
from coherence.minimums.floors import Number

PARTS = 8  # of the uncertainty; the least delay is that long too
HIDDEN = PARTS // 2  # by which two clocks may differ without a message that tells (Lundelius and Lynch 1984)


def read(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Copies show a write so long after it comes, or at a time of their clocks; two reads follow each other.

    Delays and clocks are the worst: no read may see the write where one that began after it ended does not.
    """
    assert bound
    looks, after, clocked = choose(range(PARTS + 1)), choose(range(PARTS + 1)), choose((False, True))
    hidden = 0 if dropped & {"messages_only", "unrelated_delays"} else HIDDEN
    delays = itertools.product((PARTS, 2 * PARTS), repeat=2)
    skews = itertools.product((0, hidden), repeat=2)
    shown = (
        [(2 * PARTS + after + one, 2 * PARTS + after + other) for one, other in skews]
        if clocked
        else [(one + after, other + after) for one, other in delays]
    )
    if "several_users" in dropped:
        shown = [(one, one) for one, _ in shown]  # one process reads
    if any(late - early > looks for early, late in shown):
        raise HopelessError  # the first read ends as its copy shows the write, and the second one before its copy does
    return Fraction(looks, PARTS) * Fraction(inputs["uncertainty"])


def write(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A second write begins as the first one is over; copies put them in the order of arrival, or of their clocks."""
    assert bound
    lasts, stamped = choose(range(PARTS + 2)), choose((False, True))
    hidden = 0 if dropped & {"messages_only", "unrelated_delays"} else HIDDEN
    if "several_users" in dropped:
        return Fraction(lasts, PARTS) * Fraction(inputs["uncertainty"])  # one process numbers what it writes
    first, second = (hidden, lasts) if stamped else (2 * PARTS, lasts + PARTS)
    if second < first:
        raise HopelessError  # a copy ends with the first one
    return Fraction(lasts, PARTS) * Fraction(inputs["uncertainty"])


def agreed(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Each process has a way to decide alone; whoever schedules lets all come to their first write before any writes.

    No process may decide otherwise than one that was alone while it stood before its first write.
    """
    assert bound
    processes = int(inputs["processes"])
    if dropped:  # one process proposes, or a step is a compare-and-swap, or all are in step, or each takes its chance
        return processes
    ways = [choose(("w", "wr", "rw", "rwr", "wrr")) for _ in range(processes)]
    if any(decides(one, other) not in {(0, 0), (1, 1)} for one in ways for other in ways):
        raise HopelessError
    return sum(map(len, ways))


def one_round(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Any rule of one-round reads at any number of servers; only those that are never seen to go back count."""
    assert bound
    readers, failures = int(inputs["readers"]), int(inputs["failures"])
    if "late_messages" in dropped:
        return failures + 1  # who has not answered in time has stopped
    if dropped & {"last_write_read", "asked_once"}:
        return 2 * failures + 1  # a majority answers; what is read is written back, or may go back
    servers = choose(range(1, (readers + 2) * failures + 2))
    if not exists(servers, failures, readers, again="reads_again" not in dropped):
        raise HopelessError
    return servers


UNSURE = ({"uncertainty": Fraction(1)}, {"uncertainty": Fraction(20, 1000)})
SWITCHES = ("messages_only", "unrelated_delays", "several_users")
ADVERSARIES = (
    Adversary("reads of copies", {"linearizable_read": UNSURE}, read, SWITCHES),
    Adversary("writes to copies", {"linearizable_write": UNSURE}, write, SWITCHES),
    Adversary(
        "processes that decide alone",
        {"randomised_agreement_steps": tuple({"processes": Fraction(n)} for n in (2, 3))},
        agreed,
        ("any_schedule", "any_proposer", "registers_only", "sure_agreement"),
    ),
    Adversary(
        "rules of one-round reads",
        {
            "one_round_read_servers": tuple(
                {"readers": Fraction(r), "failures": Fraction(t)} for r, t in ((1, 1), (1, 2), (2, 1))
            )
        },
        one_round,
        ("last_write_read", "late_messages", "asked_once", "reads_again"),
    ),
)
