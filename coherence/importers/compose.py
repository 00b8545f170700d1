"""Compose: services of a compose file with their copies, what they request, their health checks, the time to stop.

A container is unhealthy when so many checks in a row have failed; those within `start_period` do not count.  A
service that waits for it to be healthy (`depends_on`) then never starts.  Nothing else follows from it: Compose does
not restart what is unhealthy.  Without `stop_grace_period` a container is killed after 10 s.

SOURCE: Compose Specification, 05-services.md, deploy.md; Dockerfile reference, HEALTHCHECK: interval 30 s, timeout
30 s, start period 0 s, retries 3.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator
from fractions import Fraction

from coherence.base import units
from coherence.base.units import UnitError
from coherence.importers._addresses import project_of
from coherence.importers._flags import read_flags
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._programs import READERS
from coherence.importers._python_servers import DRAIN, forget_equal_drain
from coherence.importers._quantities import amount, bytes_text, duration_text, exact, respelled
from coherence.importers._sketch import Sketch, entry
from coherence.language.document import Items, Node, Scalar, Table

KIND = "Compose"
VARIANTS = True
SPELLING = {"after": "stop_grace_period", "every": "interval", "misses": "retries", "reply_within": "timeout"}
GRACE, INTERVAL, TIMEOUT, RETRIES = "10 s", "30 s", "30 s", "3"
SERVICE = ("image", "build", "depends_on", "healthcheck", "deploy", "command", "extends")
TOP = ("version", "name", "networks", "volumes", "configs", "secrets")
WIRING = (
    "image", "build", "container_name", "hostname", "networks", "volumes", "ports", "expose", "environment", "env_file",
    "labels", "working_dir", "user", "secrets", "configs", "logging", "profiles", "platform", "stdin_open", "tty",
    "entrypoint", "privileged", "cap_add", "cap_drop", "security_opt", "ipc", "shm_size", "ulimits", "tmpfs",
    "network_mode", "extra_hosts", "devices", "runtime", "pull_policy", "init", "dns", "read_only", "group_add",
    "links", "sysctls", "develop", "annotations", "pid", "stop_signal", "domainname", "external_links", "attach",
    "command", "mac_address",
)  # fmt: skip
KEYS = frozenset({*WIRING, "stop_grace_period", "restart", "scale"})
RESTART = "when an ended container starts again is not modelled"
SWARM = "of Swarm alone: not modelled"
SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([bkmg]?)b?", re.IGNORECASE)
POWERS = {"": 0, "b": 0, "k": 1, "m": 2, "g": 3}
VARIABLE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*:?-([^}$]*)\}")


def recognises(root: Table) -> bool:
    """Returns whether a document is a compose file, or one that is laid over another."""
    services = root.get("services")
    bodies = list(services.entries.values()) if isinstance(services, Table) else []
    is_plain = all(key in ("services", *TOP) or key.startswith("x-") for key in root.entries)
    return bool(bodies) and all(isinstance(body, Table) and _is_service(body, is_plain=is_plain) for body in bodies)


def _is_service(body: Table, *, is_plain: bool) -> bool:
    """Returns whether a mapping is a service: it says what it runs, or all its keys are those of one."""
    if any(key in body for key in SERVICE):
        return True
    return is_plain and bool(body.entries) and all(key in KEYS for key in body.entries)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the services."""
    manifest.top.pass_over(*TOP, *(key for key in manifest.root.entries if key.startswith("x-")))
    services = manifest.top.table("services")
    views = {name: view for name in services.node.entries if (view := services.table(name))} if services else {}
    waiting = dict(_waiting(views))
    for name, view in views.items():
        _service(name, view, waiting.get(name), sketch)


def base_of(file: str) -> str:
    """Returns the file over which this one is always laid (`compose.override.yaml`: `compose.yaml`); else itself."""
    stem, suffix = posixpath.splitext(file)
    return f"{stem.removesuffix('.override')}{suffix}"


def _waiting(views: dict[str, FieldView]) -> Iterator[tuple[str, str]]:
    """Yields each service that must be healthy, with one that waits for it."""
    for name, view in views.items():
        if not isinstance(view.node.get("depends_on"), Table):
            view.use("depends_on")  # a list: it waits for their start alone
            continue
        needs = view.table("depends_on")
        for other in needs.node.entries if needs else ():
            condition = needs.table(other) if needs else None
            stated, required = (condition.scalar(key) if condition else None for key in ("condition", "required"))
            if condition is not None:
                condition.pass_over("restart")
            if stated is not None and stated.text == "service_healthy" and not (required and required.text == "false"):
                yield other, name


def _service(name: str, view: FieldView, waits: str | None, sketch: Sketch) -> None:
    place = view.node.place
    thing = sketch.names.thing(name, project_of(view.manifest), KIND)
    deploy = view.table("deploy")
    copies = (_whole(deploy, "replicas") if deploy else None) or _whole(view, "scale")
    sketch.put("components", thing, place, {"copies": copies, "needs": _needs(view, deploy)})
    view.pass_over(*WIRING)
    view.remark("restart", RESTART)
    for key in ("restart_policy", "update_config", "rollback_config", "placement", "endpoint_mode", "mode", "labels"):
        if deploy is not None:
            deploy.remark(key, SWARM)
    container = FieldView(_container(view), view.path, view.manifest)
    read_flags(container, thing, READERS, sketch)
    _health(view, thing, waits, sketch)
    _grace(view, thing, sketch)


def _container(view: FieldView) -> Table:
    """Returns what a service runs, in the words of a container of Kubernetes."""
    entrypoint, command = _words(view.node.get("entrypoint")), _words(view.node.get("command"))
    image = view.node.get("image")
    node, arguments = (entrypoint, command) if entrypoint is not None else (None, command)
    if node is None and arguments is not None and _names_program(arguments):
        node, arguments = arguments, None
    return entry(view.node.place, {"command": node, "args": arguments, "image": image})


def _names_program(words: Items) -> bool:
    """Returns whether the words begin with a program that is known, which an image then runs in place of its own."""
    first = next(iter(words), None)
    text = first.text.rpartition("/")[2] if isinstance(first, Scalar) else ""
    return text in READERS or text in ("sh", "bash") or text.startswith("python")


def _words(node: Node | None) -> Items | None:
    """Returns a command as words: a list as it is, a text split as a shell does."""
    if isinstance(node, Items):
        return node
    if not isinstance(node, Scalar) or not node.text:
        return None
    try:
        return Items([respelled(node, word) for word in shlex.split(node.text)], node.place)
    except ValueError:
        return None


def _stated(view: FieldView, key: str) -> Scalar | None:
    """Returns a value; of a variable its default, None where it has none."""
    node = view.node.get(key)
    if not isinstance(node, Scalar) or node.is_null():
        return None
    text = VARIABLE.sub(lambda match: match[1], node.text)
    if "$" in text or not text:
        view.remark(key, "a variable, known at run time")
        return None
    view.use(key)
    return respelled(node, text)


def _whole(view: FieldView, key: str) -> Scalar | None:
    """Returns a whole number; what is none is refused."""
    stated = _stated(view, key)
    if stated is not None and not stated.text.strip().isdecimal():
        words = f"{view.at(key)} is '{units.shorten(stated.text)}', a whole number expected"
        view.problem(stated.place, words, f"write for example `{key}: 3`")
        return None
    return stated


def _duration(view: FieldView, key: str) -> Scalar | None:
    """Returns a duration of Compose: `1m30s`, `90s`."""
    stated = _stated(view, key)
    if stated is None:
        return None
    try:
        return respelled(stated, duration_text(units.go_duration(stated.text.replace(" ", ""))))
    except UnitError as error:
        view.problem(stated.place, f"{view.at(key)}: {error}", error.remedy)
        return None


def _health(view: FieldView, thing: str, waits: str | None, sketch: Sketch) -> None:
    """Adds the health check: the end of the start of whoever waits for it, or a remark to nobody."""
    check = view.table("healthcheck")
    if check is None or _is_off(check):
        return
    check.remark("start_interval", "more checks within the start period, which are not counted")
    every, retries = _duration(check, "interval"), _whole(check, "retries")
    place = check.node.place
    check.pass_over("test")
    sketch.put_timer(
        f"{thing}_health",
        place,
        layer="orchestration",
        objective="know when a container serves",
        during=f"{thing}.load",
        first=_duration(check, "start_period") or every or Scalar(INTERVAL, place),
        every=every or Scalar(INTERVAL, place),
        misses=retries if retries is not None and retries.text != "0" else Scalar(RETRIES, place),
        reply_within=_duration(check, "timeout") or Scalar(TIMEOUT, place),
        then=f"abort {waits}.load" if waits else f"report {thing}",
    )


def _is_off(check: FieldView) -> bool:
    disabled, test = check.scalar("disable"), check.node.get("test")
    first = next(iter(test), None) if isinstance(test, Items) else test
    return (disabled is not None and disabled.text == "true") or (isinstance(first, Scalar) and first.text == "NONE")


def _grace(view: FieldView, thing: str, sketch: Sketch) -> None:
    """Adds the time to stop, where it is written or the time of the drain is known."""
    stated = _duration(view, "stop_grace_period")
    if stated is None and not sketch.takes(thing, DRAIN):
        return
    after = stated or Scalar(GRACE, view.node.place)
    forget_equal_drain(thing, after, sketch)
    sketch.put_timer(
        f"{thing}_grace",
        layer="orchestration",
        objective="end within a known time",
        during=f"{thing}.{DRAIN}",
        after=after,
        then=f"kill {thing}",
    )


def _needs(view: FieldView, deploy: FieldView | None) -> Node | None:
    """Returns what one container reserves; its limits are listed."""
    resources = deploy.table("resources") if deploy else None
    reserved = resources.table("reservations") if resources else None
    cpus = _amount(reserved, "cpus") if reserved else None
    memory = _bytes(reserved, "memory") if reserved else _bytes(view, "mem_reservation")
    gpus = _accelerators(reserved) if reserved else None
    known = {key: node for key, node in (("cpu", cpus), ("memory", memory), ("gpu", gpus)) if node is not None}
    return entry(next(iter(known.values())).place, known) if known else None


def _amount(view: FieldView, key: str) -> Scalar | None:
    stated = _stated(view, key)
    number = amount(stated.text) if stated is not None else None
    if stated is not None and number is None:
        view.remark(key, "no number")
    return respelled(stated, exact(number)) if stated is not None and number is not None else None


def _bytes(view: FieldView, key: str) -> Scalar | None:
    """Returns a size of Compose: `512M`, `1.5gb`, in powers of 1024."""
    stated = _stated(view, key)
    match = SIZE.fullmatch(stated.text.strip()) if stated is not None else None
    if stated is not None and match is None:
        view.remark(key, "no size that is known here")
    if stated is None or match is None:
        return None
    return respelled(stated, bytes_text(Fraction(match[1]) * 1024 ** POWERS[match[2].lower()]))


def _accelerators(reserved: FieldView) -> Scalar | None:
    """Returns how many accelerators are reserved; None where it is all of them."""
    for device in reserved.tables("devices"):
        device.pass_over("driver", "capabilities", "options")
        identifiers = device.node.get("device_ids")
        count = _stated(device, "count")
        if count is not None and count.text.isdecimal():
            return respelled(count, f"{count.text} gpu")
        if isinstance(identifiers, Items) and len(identifiers):
            device.use("device_ids")
            return Scalar(f"{len(identifiers)} gpu", identifiers.place)
    return None
