"""HAProxy: a call to each backend with its retries, the requests that its servers take, and its health checks.

A try ends where nothing comes for `timeout server`; a connection that fails takes up to `timeout connect`.  Of a named
`defaults` those hold that name it with `from`, of an unnamed one all that follow.  A backend whose servers share one
host name is that host.

SOURCE: HAProxy configuration manual 3.5: retries, retry-on, option redispatch, timeout server, timeout connect, server
maxconn, inter, fall.  Defaults are in the parts haproxy_retry and haproxy_check.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base import units
from coherence.importers import _envoy_words as envoy
from coherence.importers._addresses import RunningProxy, runner_of, target_of
from coherence.importers._haproxy_syntax import ROOT, SECTION, WORDS, read
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import duration_text, integer, respelled, value_of
from coherence.importers._sketch import ClusterLimit, Sketch, default_scalar, entry, listed
from coherence.language.document import Items, Node, Scalar, Table

KIND = "HAProxy"
VARIANTS = True
SUFFIX = ".cfg"
SPELLING = {"per_try": "timeout server", "tries": "retries", "every": "inter", "misses": "fall"}
RETRY, CHECK = "haproxy_retry", "haproxy_check"
MICROSECONDS = {"us": 1, "ms": 1000, "": 1000, "s": 10**6, "m": 6 * 10**7, "h": 36 * 10**8, "d": 864 * 10**8}
CAUSES = {
    "conn-failure": ("connect_failure",), "empty-response": ("reset",), "junk-response": ("junk_response",),
    "response-timeout": ("timeout",), "0rtt-rejected": ("early_data_rejected",),
    "all-retryable-errors": (
        "connect_failure", "reset", "junk_response", "timeout", "early_data_rejected", "status_500", "bad_gateway",
        "unavailable",
    ),
}  # fmt: skip
VALUED = (
    "inter", "fastinter", "downinter", "fall", "rise", "maxconn", "minconn", "maxqueue", "slowstart", "weight", "port",
    "addr", "cookie", "resolvers", "init-addr", "resolve-prefer", "sni", "verify", "ca-file", "crt", "alpn", "proto",
    "observe", "error-limit", "on-error", "on-marked-down", "on-marked-up", "agent-port", "agent-inter", "source", "id",
)  # fmt: skip
WIRING = re.compile(
    r"log|bind|acl|chroot|user|group|daemon|pidfile|stats( [\w-]+)?|balance|mode|errorfile|cookie|ssl-[a-z-]+|"
    r"compression( \w+)?|option (\w*log[\w-]*|forwardfor)|use_backend|default_backend|monitor-uri|capture|nameserver"
)
QUEUE = "the wait for a server that is full is not modelled"
NOT_MODELLED = ("slowstart", "fastinter", "downinter", "maxqueue", "minconn", "weight", "observe", "on-error")
__all__ = ["KIND", "SPELLING", "SUFFIX", "VARIANTS", "add", "read", "recognises"]


@dataclass(frozen=True)
class BackendServer:
    """One server: its address and its options, each with the place of the line."""

    line: Scalar
    address: str
    options: dict[str, str]

    def stated(self, key: str) -> Scalar | None:
        return respelled(self.line, self.options[key]) if key in self.options else None


def recognises(root: Table) -> bool:
    """Returns whether a document is a configuration of HAProxy."""
    sections = root.get(ROOT) if root.place.file.endswith(SUFFIX) else None
    return isinstance(sections, Items) and bool(sections.items)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds what each backend says."""
    proxy = runner_of(manifest, manifest.name, sketch)
    defaults: dict[str, FieldView] = {}
    for section in manifest.top.tables(ROOT):
        _wiring(section)
        keyword = _text(section, SECTION)
        name, _, origin = _text(section, WORDS).partition(" from ")
        if keyword == "defaults":
            defaults = {**defaults, name: section, "": section}
        elif keyword in ("backend", "listen"):
            outer = defaults.get(origin.strip())
            _backend(name.split(" ")[0], (section, *((outer,) if outer is not None else ())), proxy, sketch)


def _wiring(section: FieldView) -> None:
    """Lists in one line what is not about control."""
    section.pass_over(*(key for key in section.node.entries if WIRING.fullmatch(key)))


def _text(view: FieldView, key: str) -> str:
    found = view.scalar(key) if key in view.node else None
    return found.text if found else ""


def _backend(name: str, scope: Sequence[FieldView], proxy: RunningProxy, sketch: Sketch) -> None:
    """Adds the call, the limit and the check of one backend that has servers."""
    servers = list(_servers(scope))
    if not servers:
        return
    place = scope[0].node.place
    thing = target_of([server.address for server in servers], Scalar(name, place), proxy, sketch, kind="backend")
    sketch.ways.setdefault(thing, set()).add(f"{place} {name}")
    ends = {"from": proxy.thing, "to": Scalar(thing, place), "uses": Scalar(RETRY, place)}
    sketch.calls.append(entry(place, {**ends, **_policy(scope)}))
    queue = _setting(scope, "timeout queue")
    if queue is not None:
        queue[0].remark("timeout queue", QUEUE)
    _limit(servers, thing, sketch)
    _check(scope, servers, thing, sketch)


def _servers(scope: Sequence[FieldView]) -> Iterator[BackendServer]:
    """Yields the servers of a backend, each with the options that are common to all."""
    common: dict[str, str] = {}
    for view in reversed(scope):
        for line in _lines(view, "default-server"):
            common = {**common, **_options(line.text.split())}
    for line in _lines(scope[0], "server"):
        _, address, *options = [*line.text.split(), "", ""]
        server = BackendServer(line, address, {**common, **_options(options)})
        if "disabled" not in server.options:
            yield server
    for key in NOT_MODELLED:
        if any(key in line.text.split() for view in scope for line in _lines(view, "default-server", "server")):
            words = f"{scope[0].manifest.title}: {key} of the servers of {_text(scope[0], WORDS)} is not modelled"
            scope[0].manifest.remarks.append((scope[0].node.place, words))


def _lines(view: FieldView, *keys: str) -> Iterator[Scalar]:
    for key in keys:
        node = view.node.get(key)
        view.use(key)
        yield from (line for line in (node if isinstance(node, Items) else (node,)) if isinstance(line, Scalar))


def _options(words: Sequence[str]) -> dict[str, str]:
    """Returns option -> value; empty for one that takes none."""
    options: dict[str, str] = {}
    at = 0
    while at < len(words):
        takes = words[at] in VALUED and at + 1 < len(words)
        options[words[at]] = words[at + 1] if takes else ""
        at += 2 if takes else 1
    return options


def _policy(scope: Sequence[FieldView]) -> dict[str, Node | None]:
    """Returns the time limit, the tries, the pauses and the causes of a backend."""
    causes, connect = _causes(scope), _time(scope, "timeout connect")
    never = causes is not None and not causes.items
    tries = Scalar("1", causes.place) if causes is not None and never else _tries(scope)
    once = tries is not None and tries.text == "1"
    return {
        "per_try": _time(scope, "timeout server"),
        "tries": tries,
        "retry_when": None if once else causes,
        "pause": None if once else _pause(scope, causes, connect),
        "fails": _fails(connect),
    }


def _tries(scope: Sequence[FieldView]) -> Scalar | None:
    """Returns the tries with the first one."""
    setting = _setting(scope, "retries")
    if setting is None:
        return None
    view, stated = setting
    number = integer(stated)
    if number is None or number < 0:
        view.problem(stated.place, f"retries is '{units.shorten(stated.text)}'", "write a whole number")
    return respelled(stated, str(max(number or 0, 0) + 1))


def _fails(connect: Scalar | None) -> Table | None:
    """Returns how long a connection takes that fails: it is refused at once, or not answered."""
    return entry(connect.place, {"connect_failure": respelled(connect, f"0 s .. {connect.text}")}) if connect else None


def _pause(scope: Sequence[FieldView], causes: Items | None, connect: Scalar | None) -> Scalar | None:
    """Returns the pause before the same server is tried; none where a request that failed goes elsewhere, or again.

    With `option redispatch` a retry goes elsewhere at once where there are several servers and no hash chooses one.
    """
    redispatch = _setting(scope, "option redispatch")
    every = redispatch is not None and redispatch[1].text == "1"
    only = causes is None or [node.text for node in causes if isinstance(node, Scalar)] == ["connect_failure"]
    if every or not only:
        return respelled(redispatch[1] if every and redispatch else Scalar("", scope[0].node.place), "0 s")
    longest = default_scalar(RETRY, "pause")
    shorter = connect is not None and value_of(connect) < value_of(longest)
    if redispatch is not None:
        return respelled(redispatch[1], f"0 s .. {connect.text if connect is not None and shorter else longest.text}")
    return connect if shorter else None


def _setting(scope: Sequence[FieldView], name: str) -> tuple[FieldView, Scalar] | None:
    """Returns the last line of a directive in the innermost section that has it."""
    for view in scope:
        lines = list(_lines(view, name))
        if f"no {name}" in view.node:
            view.use(f"no {name}")
            return None
        if lines:
            return view, lines[-1]
    return None


def _time(scope: Sequence[FieldView], name: str) -> Scalar | None:
    """Returns a time of HAProxy, `5000`, `30s`; none where it is 0, and where it is known at run time."""
    setting = _setting(scope, name)
    if setting is None:
        return None
    view, stated = setting
    if "$" in stated.text:
        view.remark(name, "a variable, known at run time")
        return None
    time = _seconds(stated.text)
    if time is None:
        view.problem(stated.place, f"{name} is '{units.shorten(stated.text)}'", "write for example 30s or 5000")
    return respelled(stated, duration_text(time)) if time else None


def _seconds(text: str) -> Fraction | None:
    match = re.fullmatch(r"([0-9]{1,9})(us|ms|[smhd]?)", text)
    return Fraction(int(match[1]) * MICROSECONDS[match[2]], 10**6) if match else None


def _causes(scope: Sequence[FieldView]) -> Items | None:
    """Returns what is tried again; empty for `none`, None where nothing is written."""
    setting = _setting(scope, "retry-on")
    if setting is None:
        return None
    words = setting[1]
    causes: dict[str, None] = {}
    for word in words.text.split():
        codes = [cause.text for cause in envoy.of_code(respelled(words, word))] if word.isdecimal() else []
        causes |= dict.fromkeys(codes or ([] if word == "none" else CAUSES.get(word, (word.replace("-", "_"),))))
    return listed([respelled(words, cause) for cause in causes], words.place)


def _limit(servers: Sequence[BackendServer], thing: str, sketch: Sketch) -> None:
    """Adds the most requests that the servers of a backend work on, where each says it."""
    stated = [server.stated("maxconn") for server in servers if "backup" not in server.options]
    numbers = [integer(most) for most in stated if most is not None]
    if not numbers or len(numbers) < len(stated) or not all(numbers):
        return
    first = next(most for most in stated if most is not None)
    total = respelled(first, str(sum(number or 0 for number in numbers)))
    sketch.cluster_limits.append(
        ClusterLimit(thing, "maxconn", f"{thing}.requests in flight", total, "wait", total.place, {})
    )


def _reply_within(scope: Sequence[FieldView], every: Scalar | None) -> Scalar | None:
    """Returns how long a check lasts at most where `timeout check` is set: it comes after the time to connect."""
    limit, connect = _time(scope, "timeout check"), _time(scope, "timeout connect")
    if limit is None:
        return None
    times = [value_of(time or default_scalar(CHECK, "every")) for time in (every, connect or every)]
    return respelled(limit, duration_text(value_of(limit) + min(times)))


def _check(scope: Sequence[FieldView], servers: Sequence[BackendServer], thing: str, sketch: Sketch) -> None:
    """Adds the health check of the servers, as that of the first one that is checked."""
    checked = next((server for server in servers if "check" in server.options), None)
    if checked is None:
        return
    inter, fall = checked.stated("inter"), checked.stated("fall")
    seconds = _seconds(inter.text) if inter else None
    if inter is not None and not seconds:
        scope[0].problem(inter.place, f"inter is '{units.shorten(inter.text)}'", "write for example 2s")
    if fall is not None and not integer(fall):
        scope[0].problem(fall.place, f"fall is '{units.shorten(fall.text)}'", "write a whole number above 0")
    every = respelled(inter, duration_text(seconds)) if inter is not None and seconds else None
    place = checked.line.place
    sketch.put_timer(
        f"{thing}_check",
        place,
        uses=CHECK,
        start=f"{thing} hangs",
        every=every,
        misses=fall if fall is not None and integer(fall) else None,
        reply_within=_reply_within(scope, every) or every,
        then=f"unlist {thing}",
    )
