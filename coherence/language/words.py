"""Lists the words that are understood by name, the preferred one first: the one table of synonyms of the language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

# What an activity is to a caller of its component.  `apart`: it goes on beside calls and answers none.
ACTIVITIES: Mapping[str, tuple[str, ...]] = {
    "answer": (
        "serve", "answer", "handle", "respond", "response", "reply", "request", "query", "process", "compute", "work",
        "infer", "inference", "generate", "predict", "execute", "execution", "run",
    ),
    "first byte": ("first_byte", "first_token", "ttft", "ttfb", "time_to_first_token", "time_to_first_byte", "headers"),
    "start": ("start", "load", "boot", "pull", "startup", "warm_up", "warmup"),
    "drain": ("drain", "grace", "stop", "shutdown", "terminate"),
    "apart": ("checkpoint", "dump", "snapshot", "backup", "scrub", "compaction", "rebalance", "election", "failover"),
}  # fmt: skip

CAUSES: Mapping[str, tuple[str, ...]] = {
    "timeout": (
        "timeout", "timeouts", "timed_out", "deadline", "deadline_exceeded", "slow", "504", "http_504",
        "gateway_timeout", "408", "http_408", "request_timeout", "read_timeout",
    ),
    "refusal": (
        "unavailable", "refused", "rate_limited", "limited", "throttled", "full", "locked", "overloaded", "not_ready",
        "none_left", "reset", "connect_failure", "refused_stream", "resource_exhausted", "429", "502", "503", "5xx",
        "aborted", "cancelled", "conflict", "internal", "gateway_error", "connection_error", "retriable_4xx",
    ),
}  # fmt: skip

COUNTS: Mapping[str, tuple[str, ...]] = {
    "available": ("available", "healthy", "ready", "up", "alive", "running", "serving", "pods"),
    "unavailable": ("unavailable", "disrupted", "down", "evicted", "missing", "gone"),
}

# What else a limit or a loop counts of a thing: its members in other states, and what it has to do.
STATES: Mapping[str, tuple[str, ...]] = {
    "wanted": (
        "desired", "replicas", "copies", "instances", "replica_count", "num_replicas", "desired_replicas", "wanted",
    ),
    "extra": ("extra", "surge", "surplus"),
    "old": ("old", "outdated"),
    "out of service": ("removed", "ejected", "unlisted", "unready", "out", "drained", "cordoned"),
    "left in service": ("listed", "left"),
    "failing": ("failing", "bad", "faulty", "failed"),
    "in work": ("ongoing", "admitted", "in_flight", "busy"),
    "connected": ("connections", "sessions", "streams"),
    "waiting": ("waiting", "backlog", "pending", "queue", "queued"),
    "sent": ("attempts", "calls", "requests", "sends"),
    "sent again": ("retries",),
    "failures": (
        "failures", "crashes", "evictions", "interruptions", "kills", "losses", "preemptions", "restarts", "starts",
    ),
}  # fmt: skip

# What counts the members of a thing that there are to be, as the last word of a signal that a loop writes.
MEMBERS = frozenset({
    *STATES["wanted"], "count", "members", "size", "workers", "nodes", "servers", "jobs", *COUNTS["available"],
})  # fmt: skip

# What a timer does, by the first word of `then`.
ACTIONS: Mapping[str, tuple[str, ...]] = {
    "ends": (
        "restart", "stop", "kill", "evict", "delete", "terminate", "abort", "cancel", "crash", "fail", "interrupt",
        "preempt", "reclaim", "remove", "destroy", "recreate", "replace", "reboot", "recycle", "reap", "end",
    ),
    "takes off the list": ("unlist", "deregister", "delist", "eject", "drain"),
    "tells": (
        "alert", "log", "mark", "notify", "page", "record", "warn", "inform", "tell", "report", "announce", "email",
        "mail", "ping", "print", "show", "flag", "tag", "label", "annotate",
    ),
    "hands out again": ("reassign", "redeliver", "redispatch", "release", "requeue", "resend", "retry"),
}  # fmt: skip

# Words that tell, and what comes of it where the last word of `then` is a state in which nobody uses the thing any more
# (`mark node down`): its work is lost, or it is given none.
MARKING = frozenset({"mark", "flag", "label", "declare", "set", "consider"})
MARKED: Mapping[str, tuple[str, ...]] = {
    "ends": ("down", "dead", "failed", "lost", "gone", "offline", "expired", "broken"),
    "takes off the list": (
        "unready", "unhealthy", "unavailable", "unschedulable", "out", "drained", "critical", "suspect", "unreachable",
    ),
}  # fmt: skip

# Last words of a mark that only say how a thing is: it goes on being used.
STATED = frozenset({
    "old", "ready", "done", "complete", "completed", "healthy", "slow", "degraded", "late", "dirty", "seen", "started",
    "finished", "active", "up", "warm", "hot", "cold",
})  # fmt: skip

# What a member is in, as a word of an event: overload brings it about, or something of this one member does.
CONDITIONS: Mapping[str, tuple[str, ...]] = {
    "overloaded": ("slow", "busy", "congested", "full", "late", "overloaded", "queueing", "saturated"),
    "hung": ("hangs", "hang", "crashes", "dies", "stuck", "down", "gone", "starts"),
}

# What happens to a thing or one of its activities: `server started` is the event `server starts`.
EVENTS: Mapping[str, tuple[str, ...]] = {
    "starts": ("starts", "start", "started", "begins", "begin", "began"),
    "ends": ("ends", "end", "ended", "finishes", "finish", "finished", "completes", "complete", "completed"),
}

TABLES = (ACTIVITIES, CAUSES, COUNTS, STATES, MEMBERS, ACTIONS, MARKING, MARKED, STATED, CONDITIONS, EVENTS)


@cache
def understood() -> tuple[str, ...]:
    """Returns every word that is understood by name."""
    words = (word for table in TABLES for word in (table.values() if isinstance(table, Mapping) else [table]))
    return tuple(sorted({word for several in words for word in several}))


# When a call is made, for editors that read the schema.
SUSPENDED = (
    "a victim that is suspended keeps its memory and goes on when its taker ends (Slurm's SUSPEND, gang scheduling): "
    "that is not said here; `returns` is the victim that begins again (REQUEUE), `leaves` one that is gone (CANCEL)"
)
STAGE_OF_CALL = "calls of a caller in one stage are made at once, its stages one after another, as they are first named"
CASE_OF_CALL = (
    "each request of the caller is one of its cases: the call is made in these alone; without it in every one"
)
FALLBACK_FOR_CALL = "a callee of the same caller: this call is made when that one has failed, all its tries included"


# Whose turn it is at a thing, for editors that read the schema.
DISCIPLINE_OF_THING = (
    "whose turn it is among the requests that wait: first come (fifo, without this key), last come (lifo), or those of "
    "workloads with a higher `priority`; preemptive: they take a member from a lower one, which later goes on with "
    "what is left, or (preemptive repeat) begins again"
)
CASES_OF_CALLER = "how many requests are of each case that its calls name, relative to each other"
BREAKER_OF_CALL = (
    "fails tries at once for `open_for` after `failures` in a row, or a `share` of the `last`; one for all callers"
)
HEDGE_OF_CALL = "a second copy of each try is sent after so long; the first answer counts, the other copy is given up"


def render_table(table: Mapping[str, Iterable[str]]) -> str:
    """Renders a table of words, for the schema and for messages."""
    return "; ".join(f"{meaning}: {', '.join(names)}" for meaning, names in table.items())


def plain_word(word: str) -> str:
    """Returns a word of several parts, such as a cause of failure, as one lower-case word."""
    return word.strip().lower().replace(" ", "_").replace("-", "_")
