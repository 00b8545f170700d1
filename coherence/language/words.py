"""Lists the words that are understood by name, the preferred one first: the one table of synonyms of the language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

# What an activity is to a caller of its component.  `apart`: it goes on beside calls and answers none.
ACTIVITIES: Mapping[str, tuple[str, ...]] = {
    "answer": (
        "serve", "answer", "handle", "respond", "response", "reply", "request", "query", "process", "compute", "work",
        "infer", "inference", "generate", "predict", "execute", "execution", "run", "search", "lookup", "retrieve",
        "embed", "classify", "transcribe", "translate", "summarize",
    ),
    "first byte": ("first_byte", "first_token", "ttft", "ttfb", "time_to_first_token", "time_to_first_byte", "headers"),
    "start": ("start", "load", "boot", "pull", "startup", "warm_up", "warmup"),
    "drain": ("drain", "grace", "stop", "shutdown", "terminate", "pre_stop", "prestop", "pre_stop_hook"),
    "apart": ("checkpoint", "dump", "snapshot", "backup", "scrub", "compaction", "rebalance", "election", "failover"),
}  # fmt: skip

HOOKS = ("pre_stop", "prestop", "pre_stop_hook")  # of these, what comes before the others and adds to them

# Activities in which a thing stands still: what it sends again and again comes so much later.
PAUSES = ("pause", "gc_pause", "gc", "stall", "freeze", "stop_the_world", "hiccup", "blackout")

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

# What a limit in a window counts of the sends to a thing, where it counts tokens of their requests.
TOKENS: Mapping[str, tuple[str, ...]] = {
    "both": ("tokens", "total_tokens"),
    "prompt": ("prompt_tokens", "input_tokens"),
    "answer": ("answer_tokens", "output_tokens", "completion_tokens"),
}

# What counts the members of a thing that there are to be, as the last word of a signal that a loop writes.
MEMBERS = frozenset({
    *STATES["wanted"], "count", "members", "size", "workers", "nodes", "servers", "jobs", *COUNTS["available"],
})  # fmt: skip

# What a limit stands for one of, as `per`: one member, whatever the thing is called.
MEMBER = ("replica", "member", "copy", "instance", "pod", "server", "worker", "node", "host", "engine")

# How long what comes now would wait at a thing: a limit on it is a time.
TIME_IN_QUEUE = "wait"

# What a run over requests measures of a thing that is called.
MEASURED = ("arrivals", "backlog", "utilization", "busy", TIME_IN_QUEUE, "served")

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

# What an outside event says of a thing that then runs no more, and the words of `then` by which it is begun again.
OVER = frozenset({
    "fails", "failed", "crashes", "crashed", "dies", "died", "exits", "exited", "stops", "stopped", "killed",
    "down", "gone",
})  # fmt: skip
BEGUN_AGAIN = frozenset({"start", "restart", "recreate", "relaunch", "respawn", "reboot", "replace"})

# What happens to a thing or one of its activities: `server started` is the event `server starts`.
EVENTS: Mapping[str, tuple[str, ...]] = {
    "starts": ("starts", "start", "started", "begins", "begin", "began"),
    "ends": ("ends", "end", "ended", "finishes", "finish", "finished", "completes", "complete", "completed"),
}

TABLES = (
    ACTIVITIES,
    HOOKS,
    PAUSES,
    CAUSES,
    COUNTS,
    STATES,
    TOKENS,
    MEMBERS,
    MEMBER,
    MEASURED,
    ACTIONS,
    MARKING,
    MARKED,
    STATED,
    CONDITIONS,
    OVER,
    BEGUN_AGAIN,
    EVENTS,
)


@cache
def understood() -> tuple[str, ...]:
    """Returns every word that is understood by name."""
    words = (word for table in TABLES for word in (table.values() if isinstance(table, Mapping) else [table]))
    return tuple(sorted({word for several in words for word in several}))


# What keys say that stand in several records.
NOTE = "prose for people: no answer rests on it"
LAYER = "the layer of control that it belongs to; findings and the report group by it"
OBJECTIVE = "what it is there for, in prose"
PART = "the part of models/ that it is, whose values lie under the keys written here (`coherence explain PART`)"
PER = "one stands for each member, run or window of what is named"
CASES = "how many requests are of each case that calls name, relative to each other"
WHOLE_STANDS_HERE = "everything stands here"
CONSTANT = "any other key: a constant, a range, or an expression, which others read as a signal under its name"


def render_table(table: Mapping[str, Iterable[str]]) -> str:
    """Renders a table of words, for the schema and for messages."""
    return "; ".join(f"{meaning}: {', '.join(names)}" for meaning, names in table.items())


def plain_word(word: str) -> str:
    """Returns a word of several parts, such as a cause of failure, as one lower-case word."""
    return word.strip().lower().replace(" ", "_").replace("-", "_")
