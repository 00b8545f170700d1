"""Celery: `celeryconfig.py`: a task that is acknowledged at its end comes back while it is still worked on.

With `task_acks_late` a message of Redis or SQS is hidden from other workers for the visibility timeout only; a task
runs until its time limit.  How long it runs without one is `<file>.run`.  Nothing of the file is executed: values that
are no constants, sums or products of constants are known at run time, and are listed.

SOURCE: Celery 5.5 documentation, Configuration and defaults: task_acks_late, task_time_limit, worker_concurrency;
Using Redis, Using Amazon SQS; names before 4.0.  Kombu 5.6 source, kombu/transport: redis.py, visibility_timeout 3600;
SQS, default_visibility_timeout 1800.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

from coherence.base.errors import InputError, Problem
from coherence.base.places import Place
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import respelled
from coherence.importers._sketch import Sketch
from coherence.language.document import Document, Node, Scalar, Table

KIND = "Celery"
VARIANTS = True
LOCAL_NAMES = True
SUFFIX = "celeryconfig.py"
SPELLING: Mapping[str, str] = {"after": "visibility_timeout"}
OPTIONS = "broker_transport_options"
ROOT, AT_RUN_TIME = "settings", "known at run time"
BEFORE = {
    "BROKER_URL": "broker_url", "BROKER_TRANSPORT_OPTIONS": "broker_transport_options",
    "CELERY_ACKS_LATE": "task_acks_late", "CELERYD_TASK_TIME_LIMIT": "task_time_limit",
    "CELERYD_CONCURRENCY": "worker_concurrency", "CELERYD_TASK_SOFT_TIME_LIMIT": "task_soft_time_limit",
}  # fmt: skip
VISIBLE = {"redis": "3600", "rediss": "3600", "sentinel": "3600", "sqs": "1800"}  # s
EARLY = "a task is acknowledged before it runs: only one that waits in a worker comes back"
NOT_MODELLED = {
    "task_soft_time_limit": "what a task does that is told to end",
    "worker_prefetch_multiplier": "how many tasks wait in a worker",
    "task_default_rate_limit": "how many tasks begin in a time",
    "task_reject_on_worker_lost": "whether the task of a worker that died comes back",
}
OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Mult: operator.mul, ast.Add: operator.add, ast.Sub: operator.sub,
}  # fmt: skip


def read(text: str, file: str) -> Document:
    """Returns what a file assigns to names, each value at its line.  Raises InputError where it is no Python."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        place = Place(file, line, 1, line, 1)
        raise InputError([Problem(place, "this is no Python", "write `name = value` lines")]) from error
    whole = Place(file, 1, 1, 1, 1)
    known, computed = Table({}, {}, whole), Table({}, {}, whole)
    for statement in module.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        for target in (target for target in targets if isinstance(target, ast.Name)):
            assert isinstance(statement, ast.Assign)
            node = _node(statement.value, file)
            table = known if node is not None else computed
            name = BEFORE.get(target.id, target.id)
            table.keys[name] = _place(target, file)
            table.entries[name] = node or Scalar(AT_RUN_TIME, _place(target, file))
    tables: dict[str, Node] = {ROOT: known, **({AT_RUN_TIME: computed} if computed.entries else {})}
    return Document(Table(tables, dict.fromkeys(tables, whole), whole), file, text)


def _place(node: ast.expr, file: str) -> Place:
    line, column = node.lineno, node.col_offset + 1
    return Place(file, line, column, node.end_lineno or line, (node.end_col_offset or node.col_offset) + 1)


def _node(value: ast.expr, file: str) -> Node | None:
    """Returns a constant, or a mapping of names to constants; None for anything else."""
    if isinstance(value, ast.Dict):
        return _mapping(value, file)
    if isinstance(value, ast.Constant) and isinstance(value.value, str | bool):
        return Scalar(str(value.value), _place(value, file))
    number = _number(value)
    return (
        Scalar(f"{number:g}" if number % 1 else str(int(number)), _place(value, file)) if number is not None else None
    )


def _mapping(value: ast.Dict, file: str) -> Table | None:
    """Returns a mapping of names to constants; None where a part of it is none."""
    table = Table({}, {}, _place(value, file))
    for key, inner in zip(value.keys, value.values, strict=True):
        node = _node(inner, file)
        if node is None or not isinstance(key, ast.Constant):
            return None
        table.entries[str(key.value)], table.keys[str(key.value)] = node, _place(key, file)
    return table


def _number(value: ast.expr) -> float | None:
    """Returns a number, or what a sum or a product of numbers is."""
    if isinstance(value, ast.Constant) and isinstance(value.value, int | float) and abs(value.value) < 10**12:
        return value.value
    if isinstance(value, ast.BinOp) and type(value.op) in OPERATORS:
        left, right = _number(value.left), _number(value.right)
        return OPERATORS[type(value.op)](left, right) if left is not None and right is not None else None
    return None


def recognises(root: Table) -> bool:
    """Returns whether a document holds the settings of an application of Celery."""
    return root.place.file.endswith(SUFFIX) and isinstance(root.get(ROOT), Table)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds how long a task runs, how many run at once, and when its message comes back."""
    view = manifest.top.table(ROOT)
    if view is None:
        return
    view.remark_all(NOT_MODELLED)
    computed = manifest.top.table(AT_RUN_TIME)
    for name in computed.node.entries if computed is not None else ():
        assert computed is not None
        computed.remark(name, AT_RUN_TIME)
    thing = sketch.names.thing(manifest.name.text, "", "application")
    sketch.mention(thing, manifest.name.place, f"Celery of {manifest.file}")
    limit, most = view.decimal_seconds("task_time_limit"), view.whole("worker_concurrency", least=1)
    if limit is not None:
        sketch.add_activity(thing, "run", respelled(limit, f"0 s .. {limit.text}"))
    if most is not None:
        sketch.put_limit(f"{thing}_concurrency", f"{thing}.ongoing", most, "wait", per="worker")
    if computed is None or OPTIONS not in computed:
        _visibility(view, thing, sketch)


def _visibility(view: FieldView, thing: str, sketch: Sketch) -> None:
    """Adds when a task that is not acknowledged is handed out again."""
    broker, options, late = (
        view.scalar("broker_url"),
        view.table(OPTIONS),
        view.scalar("task_acks_late"),
    )
    stated = options.decimal_seconds("visibility_timeout") if options is not None else None
    scheme = broker.text.partition(":")[0].partition("+")[0] if broker is not None else ""
    if late is None or late.text != "True":
        if options is not None:
            options.remark("visibility_timeout", EARLY)
        return
    after = stated or (respelled(late, f"{VISIBLE[scheme]} s") if scheme in VISIBLE else None)
    if after is None:
        view.remark("task_acks_late", "when its broker hands a task out again is not known")
        return
    sketch.put_timer(
        f"{thing}_visibility",
        layer="runtime",
        objective="work on each task again that nobody has ended",
        during=f"{thing}.run",
        after=after,
        then=f"redeliver {thing}.task",
    )
