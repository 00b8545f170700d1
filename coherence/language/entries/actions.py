"""Reads what a timer does from the words of its `then`: by the first one, or by the state in a mark."""

from __future__ import annotations

from coherence.language.design import Design
from coherence.language.roles import things, whole_life
from coherence.language.words import ACTIONS, EVENTS, MARKED, MARKING, STATED

ENDS, TELLS = "ends", "tells"
SPARED = frozenset({"unlist", "deregister", "delist"})
"""First words of `then` that end nothing, though they tell nobody: the member is out of service and runs on."""
TAKES_BACK = frozenset({"requeue"})
"""First words of `then` that end the work of who holds it, and have it begun again."""
ORDERLY = frozenset({"delete", "drain", "evict", "preempt", "reclaim", "shutdown", "stop", "terminate"})
"""First words of `then` that order an end which waits for what is under way; `kill` does not."""
NOTICES = frozenset({"alarm", "alert", "mail", "notice", "notification", "page", "report", "ticket", "warning"})
LOWERING = frozenset({"downscale", "downsize", "reduce", "shrink"})
"""First words of `then` that leave fewer members; of `scale` a word behind it says so."""
SCALED_DOWN = frozenset({"down", "in"})
SCALED_UP = frozenset({"up", "out"})
RESIZING = frozenset({"resize", "scale", "upscale"})
TELLING = frozenset({"open", "raise", "send", "write"})
BESIDE = frozenset({"after", "at", "by", "from", "in", "on", "with"})
"""Words behind the thing that is acted on, before what else is said of it (`restart job from checkpoint`)."""


def action_in(then: str) -> str:
    """Returns the row of ACTIONS that the words say (`mark node down` and `node ends` end the node); or nothing."""
    verb, _, rest = then.partition(" ")
    if _end_of(then):
        return ENDS
    if marked := marked_as(then):
        return marked
    if verb in TELLING and not NOTICES.isdisjoint(rest.split()):
        return TELLS
    return next((action for action, words in ACTIONS.items() if verb in words), "")


def drained_by(then: str) -> str:
    """Returns the thing that is ordered to end in its own time (`evict web`, `drain web`); or nothing."""
    return acted_on(then) if then.partition(" ")[0] in ORDERLY else ""


def takes_back(then: str) -> bool:
    """Decides whether what runs is ended and begun again (`requeue job`)."""
    return then.partition(" ")[0] in TAKES_BACK


def marked_as(then: str) -> str:
    """Returns what comes of a mark that takes something out of use (`mark node down`); empty where it only tells."""
    verb, *rest = then.split() or [""]
    state = rest[-1] if len(rest) > 1 and verb in MARKING else ""
    return next((action for action, states in MARKED.items() if state in states), "")


def unclear_state(then: str) -> str:
    """Returns the state of a mark of which nothing says whether the thing is still used (`mark node crashed`)."""
    verb, *rest = then.split() or [""]
    marks = verb in MARKING and len(rest) > 1 and not marked_as(then)
    return rest[-1] if marks and rest[-1] not in STATED else ""


def is_harmless(then: str) -> bool:
    """Decides whether what is done ends no activity: it tells somebody, or takes a member off a list."""
    marked = marked_as(then)
    return action_in(then) == TELLS or then.partition(" ")[0] in SPARED or (bool(marked) and marked != ENDS)


def lowered_by(then: str) -> str:
    """Returns the thing of whose members fewer may be there (`scale down web`, `scale web to 0`); or nothing."""
    verb, *rest = then.split() or [""]
    named = [word.partition(".")[0] for word in rest if word not in SCALED_DOWN]
    lowers = verb in LOWERING or (verb == "scale" and ("to" in rest or not SCALED_DOWN.isdisjoint(rest)))
    return named[0] if lowers and named else ""


def resized_by(then: str) -> str:
    """Returns the thing of which another number of members is to be there (`scale up web`, `scale web to 3`), or ""."""
    verb, *rest = then.split() or [""]
    named = [word.partition(".")[0] for word in rest if word not in (*SCALED_DOWN, *SCALED_UP)]
    return lowered_by(then) or (named[0] if verb in RESIZING and named else "")


def acted_on(then: str) -> str:
    """Returns the thing that is acted on: the last word, of a mark the one before its state; or nothing.

    Of `pool ends` and `pool.work ends` it is what ends; what stands behind a preposition is not acted on.
    """
    if thing := _end_of(then):
        return thing
    words = then.split()
    last = next((k for k in range(2, len(words)) if words[k] in BESIDE), len(words))
    return words[last - (2 if marked_as(then) else 1)] if len(words) > 1 else ""


def ended_by(then: str) -> str:
    """Returns the thing or the activity that is ended (`kill pool`, `requeue job`, `pool.work ends`); or nothing."""
    return acted_on(then) if action_in(then) == ENDS or takes_back(then) else ""


def ended_activity(design: Design, then: str) -> str:
    """Returns the stated activity that an action ends at once: `x.load` of `abort x.load`, and `x.run` of `kill x`
    where that is its whole life; nothing where it waits for what is under way.
    """
    thing, _, name = ended_by(then).partition(".") if not drained_by(then) else ("", "", "")
    activity, component = name or whole_life(design, thing), things(design).get(thing)
    return f"{thing}.{activity}" if component is not None and activity in (component.takes or {}) else ""


def _end_of(then: str) -> str:
    """Returns what the words of an event say to end (`pool ends`, `all of pool.work end`); else nothing."""
    *before, thing, word = then.split() if " " in then else ("", "")
    return thing if word in EVENTS["ends"] and before in ([], ["all", "of"]) else ""
