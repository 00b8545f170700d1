"""nginx: a call to the upstream of each location, with its time limits and what is passed to the next server.

A try ends where nothing comes for `*_read_timeout` between two reads.  It is passed on to the next server of its
upstream, as often as there are servers and `*_next_upstream_tries` allows; a host without an `upstream` is one server.
Directives of `http` and `server` hold in the locations in them.

SOURCE: nginx documentation, ngx_http_proxy_module, ngx_http_upstream_module.  Defaults are in the part
nginx_next_upstream.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from coherence.base import units
from coherence.importers._addresses import RunningProxy, runner_of, target_of
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._nginx_syntax import ROOT, WORDS, read
from coherence.importers._quantities import duration_text, integer, respelled
from coherence.importers._sketch import Sketch, default_scalar, entry, listed
from coherence.language.document import Items, Node, Scalar, Table

KIND = "nginx"
VARIANTS = True
SUFFIX = ".conf"
SPELLING = {"per_try": "proxy_read_timeout"}
PART = "nginx_next_upstream"
PROTOCOLS = ("proxy", "fastcgi", "uwsgi", "scgi", "grpc")
MILLISECONDS = {"ms": 1, "s": 1000, "": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
CAUSES = {
    "error": "error", "timeout": "timeout", "invalid_header": "invalid_header", "http_502": "bad_gateway",
    "http_503": "unavailable", "http_504": "timeout", "http_429": "rate_limited",
}  # fmt: skip
__all__ = ["KIND", "SPELLING", "SUFFIX", "VARIANTS", "add", "read", "recognises"]
Setting = tuple[FieldView, str]  # where a directive is written, and its name


def recognises(root: Table) -> bool:
    """Returns whether a document is a configuration of nginx that serves HTTP."""
    block = root.get(ROOT) if root.place.file.endswith(SUFFIX) else None
    return isinstance(block, Table) and ("http" in block or "server" in block)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds a call for each location that passes its requests on."""
    top = manifest.top.table(ROOT)
    if top is None:
        return
    proxy = runner_of(manifest, manifest.name, sketch)
    for outer in (top, *top.blocks("http")):
        named = {_words(group): group for group in outer.blocks("upstream")}
        for server in outer.blocks("server"):
            for scope in _scopes(server, (top, outer) if outer is not top else (outer,)):
                _pass(scope, named, proxy, sketch)


def _words(view: FieldView) -> str:
    words = view.scalar(WORDS)
    return words.text if words else ""


def _scopes(block: FieldView, outer: tuple[FieldView, ...]) -> Iterator[tuple[FieldView, ...]]:
    """Yields each block that may pass requests on, innermost first, with those around it."""
    chain = (block, *outer)
    yield chain
    for name in ("location", "if"):
        for inner in block.blocks(name):
            inner.pass_over(WORDS)
            yield from _scopes(inner, chain)


def _pass(scope: tuple[FieldView, ...], groups: Mapping[str, FieldView], proxy: RunningProxy, sketch: Sketch) -> None:
    """Adds the call of one block that has a `proxy_pass` or the like."""
    block = scope[0]
    protocol = next((name for name in PROTOCOLS if f"{name}_pass" in block), None)
    target = block.scalar(f"{protocol}_pass") if protocol else None
    if protocol is None or target is None:
        return
    host = _host(_substituted(target.text, scope))
    if not host or "$" in host:
        block.remark(f"{protocol}_pass", "its host is known at run time")
        return
    group = groups.get(host)
    servers = _servers(group) if group is not None else [host]
    thing = target_of(servers, respelled(target, host.partition(":")[0]), proxy, sketch, kind="upstream")
    policy = _policy(scope, protocol, len(servers))
    sketch.calls.append(entry(target.place, {"from": proxy.thing, "to": respelled(target, thing), **policy}))


def _substituted(text: str, scope: tuple[FieldView, ...]) -> str:
    """Returns a text with the variables that a `set` around it gives a plain value."""
    for view in scope:
        node = view.node.get("set")
        for setting in node if isinstance(node, Items) else (node,):
            name, _, value = setting.text.partition(" ") if isinstance(setting, Scalar) else ("", "", "")
            if name and "$" not in value and re.search(rf"{re.escape(name)}\b", text):
                view.use("set")
                text = re.sub(rf"{re.escape(name)}\b", lambda _, value=value: value, text)  # type: ignore[misc]
    return text


def _host(address: str) -> str:
    """`http://user:password@gateway:8001/api` -> `gateway:8001`; a socket has none."""
    host = re.sub(r"^[a-z]+://", "", address).partition("/")[0].rpartition("@")[2]
    return "" if host.startswith("unix:") else host.removesuffix(":80").removesuffix(":443")


def _servers(group: FieldView) -> list[str]:
    """Returns the servers to which an upstream may pass a request; a `backup` is one, what is `down` is none."""
    node = group.node.get("server")
    group.use("server")
    servers = [one.text.split() for one in (node if isinstance(node, Items) else (node,)) if isinstance(one, Scalar)]
    if any(not {*words[1:]} <= {"down", "backup"} for words in servers):
        group.remark("server", "weights and failure counts of its servers are not modelled")
    return [words[0] for words in servers if words and "down" not in words[1:]]


def _policy(scope: tuple[FieldView, ...], protocol: str, servers: int) -> dict[str, Node | None]:
    place = scope[0].node.place
    per_try, most = _time(scope, f"{protocol}_read_timeout"), _setting(scope, f"{protocol}_next_upstream_tries")
    stated = most[0].whole(most[1]) if most else None
    limit = integer(stated) if stated else 0
    tries = min(servers, limit) if limit else servers
    values: dict[str, Node | None] = {
        "per_try": per_try,
        "tries": Scalar(str(max(tries, 1)), stated.place if stated and limit and limit <= servers else place),
    }
    causes = _causes(scope, f"{protocol}_next_upstream")
    if tries <= 1 or (causes is not None and not causes.items):
        values["per_try"] = per_try or default_scalar(PART, "per_try")
        return {**values, "tries": Scalar("1", place), "timeout_kind": Scalar("between bytes", place)}
    whole = _setting(scope, f"{protocol}_next_upstream_timeout")
    if whole is not None:
        whole[0].remark(whole[1], "after it no other server is tried, and the running try goes on: no limit is taken")
    return {**values, "uses": Scalar(PART, place), "retry_when": causes}


def _setting(scope: tuple[FieldView, ...], name: str) -> Setting | None:
    """Returns the innermost block in which a directive is written."""
    return next(((view, name) for view in scope if name in view), None)


def _time(scope: tuple[FieldView, ...], name: str) -> Scalar | None:
    """Returns a time of nginx: `60`, `60s`, `1m 30s`, `500ms`."""
    setting = _setting(scope, name)
    stated = setting[0].scalar(name) if setting else None
    if stated is None or setting is None:
        return None
    seconds = _seconds(stated.text)
    if seconds is None:
        setting[0].problem(stated.place, f"{name} is '{units.shorten(stated.text)}'", "write for example 60s or 1m")
        return None
    return respelled(stated, duration_text(seconds))


def _seconds(text: str) -> Fraction | None:
    if not text or not re.fullmatch(r"(?:[0-9]{1,9}(?:ms|[smhdw])\s*)*(?:[0-9]{1,9})?", text):
        return None
    parts = re.findall(r"([0-9]{1,9})(ms|[smhdw])?", text)
    return Fraction(sum(int(number) * MILLISECONDS[unit] for number, unit in parts), 1000)


def _causes(scope: tuple[FieldView, ...], name: str) -> Items | None:
    """Returns what is passed to the next server; empty for `off`, None where nothing is written."""
    setting = _setting(scope, name)
    words = setting[0].scalar(name) if setting else None
    if words is None:
        return None
    listing = [] if words.text == "off" else words.text.split()
    listing = [word for word in listing if word != "non_idempotent"]
    causes = dict.fromkeys(CAUSES.get(word, word.replace("http_", "status_")) for word in listing)
    return listed([respelled(words, cause) for cause in causes], words.place)
