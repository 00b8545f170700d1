"""Slurm: who takes from whom, how long a job that is to end may save, a node may boot, a prolog may run.

Partitions are queues with their tiers; jobs stand in no configuration, so an overlay adds them.  The first job that
does not fit is passed by those that backfill finds to delay it by nothing (`sched/builtin`: by nobody of its
partition).  Backfill looks `bf_window` ahead: a partition whose jobs may be longer has jobs that it does not plan.
`slurm.conf` and `gres.conf` are known by their contents; times are seconds, of partitions minutes or days-hours:...

SOURCE: Slurm documentation, slurm.conf: SchedulerType sched/backfill, PreemptType preempt/none, PreemptMode OFF,
GraceTime 0, PriorityTier 1, MaxTime UNLIMITED, bf_window 1440 min ("a value at least as long as the highest allowed
time limit is generally advisable to prevent job starvation"); KillWait in the part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from coherence.base import units
from coherence.base.places import Place
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import between, duration_text, integer, respelled, value_of
from coherence.importers._sketch import Sketch, default_scalar
from coherence.importers._slurm_syntax import ROOT, is_text, read
from coherence.language.document import Items, Node, Scalar, Table

__all__ = ["KIND", "LOCAL_NAMES", "SPELLING", "SUFFIX", "VARIANTS", "add", "is_text", "read", "recognises"]

KIND = "Slurm"
VARIANTS = True
LOCAL_NAMES = True
SUFFIX = ".conf"
SPELLING = {"after": "KillWait"}
KILL = "slurm_kill_wait"
UNLIMITED = ("INFINITE", "UNLIMITED", "-1")
MINUTE, DAY = 60, 86400
LEAST_WAIT = 5  # seconds from SIGTERM to SIGKILL, whatever KillWait says
WINDOW = "bf_window"
WINDOW_MINUTES = 1440
RULE = "for waiting take running where running.queue.tier < waiting.queue.tier"
VICTIMS = {"REQUEUE": "", "CANCEL": "leaves, no reservation"}
DEFAULT = "DEFAULT"
DEVICES_AND_NODES = ("name", "nodename", "autodetect", "nodeset", "downnodes", "frontendname")  # of other files
READ = ("maxtime", "prioritytier", "gracetime")
SCHEDULERS = {"sched/backfill": "is passed, reservation", "sched/builtin": "holds its queue"}
TIMERS = (  # key, activity, what ends it, what then happens
    ("resumetimeout", "node.boot", "down node"),
    ("suspendtimeout", "node.suspend", "down node"),
    ("prologepilogtimeout", "job.prolog", "drain node"),
)
IRRELEVANT = (
    "clustername", "slurmctldhost", "slurmctldport", "slurmdport", "slurmctldpidfile", "slurmdpidfile", "slurmuser",
    "slurmduser", "slurmdspooldir", "statesavelocation", "authtype", "authinfo", "authalttypes", "authaltparameters",
    "slurmctlddebug", "slurmctldlogfile", "slurmddebug", "slurmdlogfile", "accountingstoragehost", "mailprog",
    "accountingstoragetype", "accountingstorageuser", "jobcomptype", "jobcomploc", "jobacctgathertype", "cryptotype",
    "jobacctgatherfrequency", "plugindir", "mpidefault", "credtype", "slurmctldaddr", "controlmachine", "switchtype",
)  # fmt: skip
_CLOCK = re.compile(
    r"(?:(?P<days>[0-9]{1,6})-)?(?P<first>[0-9]{1,9})(?::(?P<second>[0-9]{1,2}))?(?::(?P<third>[0-9]{1,2}))?"
)


def recognises(root: Table) -> bool:
    """Returns whether a document is a configuration of Slurm."""
    return isinstance(root.get(ROOT), Table)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds partitions, who takes from whom, and the timers."""
    top = manifest.top.table(ROOT)
    if top is None:
        return
    top.remark("name", "devices of nodes: an overlay states capacities")
    if all(key in DEVICES_AND_NODES for key in top.node.entries):
        top.remark("nodename", "which devices nodes have: an overlay states capacities and jobs")
        top.pass_over("autodetect", "nodeset", "downnodes", "frontendname")
        return
    partitions = [_partition(view, sketch) for view in _partitions(_lines(top, "partitionname"))]
    _timers(top, partitions, sketch)
    top.remark("nodename", "what nodes have: an overlay states capacities and jobs")
    top.remark("nodeset", "which nodes are in it")
    top.pass_over(*IRRELEVANT)
    _order(top, sketch)
    _window(top, partitions, sketch)


def _lines(top: FieldView, key: str) -> list[FieldView]:
    return top.tables(key) if isinstance(top.node.get(key), Items) else []


def _partitions(lines: list[FieldView]) -> list[FieldView]:
    """Returns each partition with all that its lines say, and what lines of DEFAULT before it say."""
    defaults, named = Table({}, {}, lines[0].node.place if lines else Place("", 1, 1, 1, 1)), dict[str, FieldView]()
    for view in lines:
        name = view.scalar("partitionname")
        view.use(*READ)
        known = named.get(name.text) if name is not None else None
        base = known.node if known is not None else defaults
        own = Table({**base.entries, **view.node.entries}, {**base.keys, **view.node.keys}, view.node.place)
        if name is not None and name.text.upper() == DEFAULT:
            defaults = own
        elif name is not None:
            named[name.text] = FieldView(own, view.path, view.manifest)
    return list(named.values())


def _partition(view: FieldView, sketch: Sketch) -> tuple[FieldView, str]:
    """Adds a partition with its tier and its longest job."""
    name, tier = view.required("partitionname"), view.whole("prioritytier")
    thing = sketch.names.thing(f"{name.text if name else ''} partition", "", KIND)
    longest = _clock(view, "maxtime", MINUTE)
    view.scalar("maxtime")
    values: dict[str, Node | None] = {
        "tier": tier or Scalar("1", view.node.place),
        "job_time": between(Scalar("0 s", longest.place), longest) if longest is not None else None,
        "note": respelled(name or Scalar("", view.node.place), "partition of Slurm"),
    }
    view.remark("nodes", "which jobs may run on which nodes")
    view.remark("preemptmode", "a partition that treats its own victims otherwise")
    view.pass_over("default", "state", "allowgroups", "allowaccounts", "allowqos", "hidden")
    sketch.put("components", thing, view.node.place, values)
    return view, thing


def _clock(view: FieldView, key: str, unit: int) -> Scalar | None:
    """Returns a time of Slurm: `90`, `1:30:00`, `7-00:00:00`; None where it has no end."""
    stated = view.scalar(key)
    if stated is None or stated.text.upper() in UNLIMITED:
        return None
    seconds = _seconds(stated.text, unit)
    if seconds is None:
        view.problem(stated.place, f"{key} is '{units.shorten(stated.text)}'", "write for example 60 or 7-00:00:00")
        return None
    return respelled(stated, duration_text(Fraction(seconds)))


def _seconds(text: str, unit: int) -> int | None:
    """Returns the seconds of `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours` and on."""
    match = _CLOCK.fullmatch(text)
    if match is None:
        return None
    first, second, third = (int(match[key] or 0) for key in ("first", "second", "third"))
    if match["days"] is not None:
        return int(match["days"]) * DAY + first * 3600 + second * MINUTE + third
    if match["third"] is not None:
        return first * 3600 + second * MINUTE + third
    return first * MINUTE + second if match["second"] is not None else first * unit


def _timers(top: FieldView, partitions: list[tuple[FieldView, str]], sketch: Sketch) -> None:
    """Adds how long a job may save, a node may boot and a prolog may run; a victim has its grace first."""
    wait = _at_least(top.seconds("killwait"))
    _kill("job", wait, wait.place if wait else top.node.place, sketch)
    for view, thing in partitions:
        grace = view.seconds("gracetime")
        if grace is not None and integer(grace) != 0:
            both = sum((value_of(it) for it in (grace, wait or default_scalar(KILL, "after"))), Fraction(0))
            _kill(thing, respelled(grace, duration_text(both)), grace.place, sketch)
    for key, activity, then in TIMERS:
        limit = _clock(top, key, 1)
        if limit is not None:
            _timer(key, activity, limit, then, sketch)


def _at_least(wait: Scalar | None) -> Scalar | None:
    """Returns KillWait as slurmd takes it: never shorter than 5 s."""
    return respelled(wait, "5 s") if wait is not None and value_of(wait) < LEAST_WAIT else wait


def _kill(thing: str, after: Scalar | None, place: Place, sketch: Sketch) -> None:
    """Adds the time from the order to end until the kill."""
    sketch.put_timer(f"{thing}_kill", place, uses=KILL, during=f"{thing}.save", after=after)


def _timer(name: str, activity: str, after: Scalar, then: str, sketch: Sketch) -> None:
    sketch.put_timer(name, during=activity, after=after, then=then)


def _order(top: FieldView, sketch: Sketch) -> None:
    """Adds who is first and who takes from whom, where partitions preempt."""
    kind, modes = top.scalar("preempttype"), top.scalar("preemptmode")
    scheduler = top.scalar("schedulertype")
    if kind is None or kind.text.lower() == "preempt/none":
        return
    if kind.text.lower() != "preempt/partition_prio":
        top.remark("preempttype", "who takes from whom is said by qualities of service, in the data base")
        return
    words = [word for word in (modes.text.upper() if modes else "OFF").split(",") if word not in ("GANG", "WITHIN")]
    victim = VICTIMS.get(words[0] if words else "")
    if modes is None or victim is None:
        top.remark("preemptmode", "a victim that is suspended keeps its memory: who waits for whom is not answered")
        return
    blocked = SCHEDULERS.get(scheduler.text.lower() if scheduler else "sched/backfill", "")
    sketch.state_key("order", "admit", respelled(kind, "largest job.queue.tier first, then largest job.priority first"))
    sketch.state_key("order", "preempt", respelled(kind, RULE))
    if victim:
        sketch.state_key("order", "victim", respelled(modes, victim))
    else:
        top.remark("preemptmode", "whether what a victim frees is kept for the taker: an overlay says it (victim)")
    if blocked:
        sketch.state_key("order", "blocked", respelled(scheduler or kind, blocked))


def _window(top: FieldView, partitions: list[tuple[FieldView, str]], sketch: Sketch) -> None:
    """Adds that backfill plans only jobs that end within its window, for each partition that states a longest job."""
    scheduler, parameters = top.scalar("schedulertype"), top.scalar("schedulerparameters")
    stated = dict(_parameters(parameters))
    if scheduler is not None and scheduler.text.lower() != "sched/backfill":
        return
    minutes = stated.pop(WINDOW, str(WINDOW_MINUTES))
    if parameters is not None and stated:
        words = f"{top.manifest.title}: SchedulerParameters {', '.join(stated)}"
        top.manifest.remarks.append((parameters.place, units.shorten(words, 200)))
    if integer(Scalar(minutes, top.node.place)) is None:
        return
    for view, thing in partitions:
        longest = view.node.get("maxtime")
        component = sketch.get("components", thing)
        if component is None or "job_time" not in component or not isinstance(longest, Scalar):
            continue
        place = parameters.place if parameters is not None and WINDOW in parameters.text else longest.place
        values: dict[str, Node | None] = {
            "layer": Scalar("cluster", place),
            "counts": respelled(longest, f"{thing}.job_time"),
            "at_most": Scalar(duration_text(Fraction(int(minutes) * MINUTE)), place),
        }
        sketch.put("limits", sketch.names.fresh(f"{thing}_{WINDOW}"), place, values)


def _parameters(parameters: Scalar | None) -> Iterator[tuple[str, str]]:
    for word in (parameters.text if parameters else "").split(","):
        key, _, value = word.strip().partition("=")
        if key:
            yield key.lower(), value
