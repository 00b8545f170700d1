"""Converts timers that restart members into restarts of a station's servers.

A run has three beginnings from which such a timer can count: of the answer of a member (`web.serve starts`), of its
start after a restart (`web.start starts`), and of a pause in which it stands still (`web hangs`, by `--pause`).  A
probe looks at some phase of its period, drawn anew each time, and waits for its reply at each look.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from coherence.base.reads import apart, note
from coherence.language.design import Component, Design, Timer
from coherence.language.entries.jitter import shift_of
from coherence.language.entries.probes import is_paced_by_reply
from coherence.language.roles import in_role, role, time_of
from coherence.language.schema_kinds import Quantity
from coherence.language.words import ACTIONS, BEGUN_AGAIN
from coherence.simulate.processes.numbers import lower
from coherence.simulate.processes.service_times import uniform_service
from coherence.simulate.requests.program import MemberRestarts, Service, Window

RESTARTS = BEGUN_AGAIN.intersection(ACTIONS["ends"])
HANGS = ("hangs", "hang", "stuck")


def restarts_of(design: Design, pool: Component, notes: list[str], *, refused: str = "") -> MemberRestarts | None:
    """Returns when the members of a pool begin anew; None where no timer says so.  `refused`: why none can be run."""
    windows: dict[str, list[Window]] = {"working": [], "hung": [], "starting": []}
    for timer in design.timers.values():
        (kind, why), reads = apart(partial(_as_run, pool, timer, refused))
        if why:
            notes.append(f"{timer.name} is not run: {why}")
        elif kind:
            note(reads)  # of a timer that is not run nothing counts as read
            windows[kind].append(_window(timer, notes))
    if not any(windows.values()):
        return None
    start = time_of(pool, "start")
    if start is None:
        notes.append(f"members of {pool.name} that begin anew serve again at once (`takes: {{start: 30 s}}`)")
    notes += _taken_for_granted(pool, windows)
    return MemberRestarts(
        tuple(windows["working"]), tuple(windows["hung"]), tuple(windows["starting"]),
        uniform_service(start) if start is not None else Service(0.0, "constant", 0.0),
    )  # fmt: skip


def _taken_for_granted(pool: Component, windows: dict[str, list[Window]]) -> Iterator[str]:
    yield f"what a member of {pool.name} works on when it begins anew fails, and what waits stays in the queue"
    if windows["hung"]:
        yield f"the members of {pool.name} stand still and begin anew together, which ends the pause for them"


def _as_run(pool: Component, timer: Timer, refused: str) -> tuple[str, str]:
    """Returns from what a timer counts to begin the members of a pool anew, or why it is not run; else two times ""."""
    verb, _, thing = timer.then.text.partition(" ") if timer.then is not None else ("", "", "")
    if verb not in RESTARTS or thing != pool.name:
        return "", ""
    kind = _begins(pool, timer)
    return kind, refused or _not_run(timer, kind)


def _begins(pool: Component, timer: Timer) -> str:
    """Returns what a timer counts from: that a member works, hangs or starts; nothing where a run has no such event."""
    start = timer.start
    if start is None:
        return ""
    if start.kind == "outside":
        return "hung" if start.subject in {f"{pool.name} {word}" for word in HANGS} else ""
    activity = start.activity if start.kind == "starts" and start.thing == pool.name and not start.of else ""
    kind = {"answer": "working", "start": "starting"}.get(role(pool, activity) if activity else "", "")
    alone = len(in_role(pool, "answer" if kind == "working" else "start")) <= 1
    return kind if alone else ""


def _not_run(timer: Timer, kind: str) -> str:
    """Returns why a timer cannot be run; nothing where it can."""
    start, ends = timer.start, timer.unless
    if start is None or not kind:
        return f"a run has no event '{start.text if start is not None else ''}' of single members"
    own = ends is not None and ends.kind == "ends" and ends.subject == start.subject and not ends.of
    if kind != "hung" and not own:
        return f"it is run with `unless: {start.subject} ends`"
    if kind == "hung" and ends is not None:
        return "the end of a pause is what ends it (no `unless`)"
    if timer.renew is not None:
        return "a run has nothing that renews it"
    if timer.every is None and timer.after is None and timer.first is None:
        return "it has no time: `after`, or `every` and `misses`"
    return ""


def _window(timer: Timer, notes: list[str]) -> Window:
    """Returns between which times after its event a timer fires (s)."""
    early, late = (float(shift) for shift in shift_of(timer.jitter))

    def seconds(key: str) -> float:
        value = getattr(timer, key)
        return lower(value, f"{key} of {timer.name}", notes) if isinstance(value, Quantity) else 0.0

    if any(value is not None and not isinstance(value, Quantity) for value in (timer.after, timer.misses)):
        return float("inf"), float("inf")  # unlimited
    first = seconds("first") if timer.first is not None else seconds("after")
    if timer.every is None:
        return max(0.0, first + early), max(0.0, first + late)
    every, reply, misses = seconds("every"), seconds("reply_within"), max(1.0, seconds("misses"))
    spacing = every + reply if is_paced_by_reply(timer) else max(every, reply)
    least = first + (misses - 1) * spacing + reply
    return max(0.0, least + early), max(0.0, least + every + late)
