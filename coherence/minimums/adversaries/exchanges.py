"""Models of collectives: messages in rounds, chunks through ports, and two flows over one wire."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError
from coherence.minimums.bound import Inputs
from coherence.minimums.fabric.wiring import Wire, fabric
from coherence.minimums.floors import Number

EVERYONE = -1


def rounds(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Members tell each other what they know, one message out and one in at a time, until all know what they want."""
    n, alpha = int(inputs["n"]), Fraction(0) if "message_time" in dropped else Fraction(inputs["alpha"])
    one_source = bound == "broadcast"
    if not one_source and n > 1 and "end_point_reduction" in dropped and choose((False, True)):
        return 2 * alpha  # one message to a switch that adds, one back
    known = [{0} if one_source and not m else set() if one_source else {m} for m in range(n)]
    wanted, time = {0} if one_source else set(range(n)), Fraction(0)
    for _ in range(n + 1):
        if all(have >= wanted for have in known):
            return time
        time += alpha
        choose.passed(time)
        _one_round(choose, known, dropped)
    raise HopelessError


def _one_round(choose: Chooser, known: list[set[int]], dropped: frozenset[str]) -> None:
    before, taken = [set(have) for have in known], set[int]()
    for member, have in enumerate(before):
        others = [m for m in range(len(known)) if m != member and m not in taken]
        many = [EVERYONE] if dropped & {"one_port", "unicast"} else []
        receiver = choose([None, *others, *many]) if have else None
        for m in others if receiver == EVERYONE else [] if receiver is None else [receiver]:
            known[m] |= have
            taken |= set() if "one_port" in dropped else {m}


def chunks(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Each member sends one chunk and receives one in a step; sums of chunks take no more room than one."""
    n, kind = int(inputs["n"]), "all_reduce" if bound.startswith("all_reduce") else bound
    if "balanced" in dropped and kind in ("all_to_all", "scatter_gather") and choose((False, True)):
        return Fraction(0)  # all data is wanted where it is
    step = Fraction(inputs["size"]) / n / Fraction(inputs["bandwidth"]) / (2 if "uncompressed" in dropped else 1)
    held, time = _begun(kind, n), Fraction(0)
    if "balanced" in dropped and kind == "all_gather" and choose((False, True)):
        held = [dict.fromkeys(range(n), frozenset(range(n))) if not m else {} for m in range(n)]
    for _ in range(4 * n):
        if _over(kind, n, held):
            return time
        time += step
        choose.passed(time)
        if bound == "all_reduce_in_network" or (kind == "all_reduce" and "end_point_reduction" in dropped):
            _added_by_switch(choose, held, n)
        else:
            _sent(choose, held)
        if "one_attachment" in dropped:
            _shared_in_boxes(held, n)
    raise HopelessError


Held = list[dict[Any, frozenset[int]]]  # of each member: chunk -> whose parts are in it


def _begun(kind: str, n: int) -> Held:
    everyone = frozenset(range(n))
    if kind in ("all_reduce", "reduce_scatter"):
        return [{chunk: frozenset({m}) for chunk in range(n)} for m in range(n)]
    if kind == "all_to_all":
        return [{(m, to): everyone for to in range(n)} for m in range(n)]
    return [{c: everyone for c in range(n) if kind != "scatter_gather" or not m} if kind == "scatter_gather"
            else {m: everyone} for m in range(n)]  # fmt: skip


def _over(kind: str, n: int, held: Held) -> bool:
    """Returns whether every member has what it wants, whole."""
    if kind == "all_to_all":
        return all((source, m) in held[m] for m in range(n) for source in range(n))
    mine = kind in ("reduce_scatter", "scatter_gather")
    return all(len(held[m].get(c, ())) == n for m in range(n) for c in ([m] if mine else range(n)))


def _sent(choose: Chooser, held: Held) -> None:
    before, taken = [dict(have) for have in held], set[int]()
    for member, have in enumerate(before):
        moves = [(to, chunk) for to in range(len(held)) if to != member and to not in taken for chunk in have]
        move = choose([None, *moves]) if moves else None
        if move is not None:
            to, chunk = move
            taken.add(to)
            held[to][chunk] = _merged(held[to].get(chunk, frozenset()), have[chunk])


def _merged(mine: frozenset[int], came: frozenset[int]) -> frozenset[int]:
    """Returns the sum of parts that have none in common, else the larger."""
    return mine | came if not mine & came else max(mine, came, key=len)


def _added_by_switch(choose: Chooser, held: Held, n: int) -> None:
    """All members send one chunk to the switch, which adds the parts and gives the sum to all."""
    chunk = choose(range(n))
    for have in held:
        have[chunk] = frozenset(range(n))


def _shared_in_boxes(held: Held, n: int) -> None:
    """Gives neighbours what the other has, over a link of their own; two members are one box."""
    for member in range(0, n - 1, 2):
        for chunk in {*held[member], *held[member + 1]}:
            pair = [held[member].get(chunk, frozenset()), held[member + 1].get(chunk, frozenset())]
            held[member][chunk] = held[member + 1][chunk] = _merged(*pair)


BACK = Fraction(1, 10**6)  # a fabric has a way back to every member; this one is too narrow to help
BUTTERFLY = (
    *(Wire(ends[0], ends[1], Fraction(1)) for ends in ("am", "bm", "mw", "wx", "wy", "ay", "bx")),
    *(Wire(ends[0], ends[1], BACK) for ends in ("xa", "yb")),
)


def butterfly(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """a has a byte for x, b one for y, and both ways lead over one wire; each node sends bits that it has or, where
    it may compute, their sum.  Returns the load of the busiest wire; every receiver must be able to tell its byte.
    """
    assert bound
    assert inputs
    a, b = frozenset({"a"}), frozenset({"b"})  # a message: the bytes that are added in it
    may = (a, b, a | b) if "forwarded_only" in dropped else (a, b)
    over = [choose((None, *may)) for _ in range(2)]
    sent = [message for message in over if message is not None]
    for wanted, side in ((a, b), (b, a)):  # x gets b's byte beside, y gets a's
        if not any(message in (wanted, wanted | side) for message in sent):
            raise HopelessError
    return Fraction(max(1, len(sent)))


def _exchange(n: int) -> Inputs:
    return {"n": n, "size": Fraction(n), "bandwidth": Fraction(1)}


MESSAGES = tuple({"n": n, "alpha": Fraction(1)} for n in (2, 3, 4, 5))
SHORT = tuple({**one, "size": Fraction(0), "bandwidth": Fraction(1)} for one in MESSAGES)
LONG = tuple({**_exchange(n), "alpha": Fraction(0)} for n in (2, 3))
CHUNKED = tuple(map(_exchange, (2, 3, 4)))
CROSSED = {"fabric": fabric("abxy", BUTTERFLY, name="butterfly"), "demands": (("a", "x", 1), ("b", "y", 1))}
ADVERSARIES = (
    Adversary(
        "messages in rounds",
        {"all_reduce_latency": MESSAGES, "all_reduce_alpha_beta": SHORT, "broadcast": SHORT},
        rounds,
        ("one_port", "message_time", "end_point_reduction", "unicast"),
    ),
    Adversary(
        "chunks through ports",
        {
            **dict.fromkeys(("all_reduce_end_point", "all_gather", "reduce_scatter"), CHUNKED),
            **dict.fromkeys(("all_to_all", "scatter_gather"), CHUNKED),
            "all_reduce_alpha_beta": LONG,
            "all_reduce_in_network": CHUNKED[:2],
        },
        chunks,
        ("end_point_reduction", "uncompressed", "balanced", "one_attachment"),
    ),
    Adversary(
        "two flows over one wire",
        {"transfer_time_fabric": (cast("Any", CROSSED),)},
        butterfly,
        ("forwarded_only",),
    ),
)
