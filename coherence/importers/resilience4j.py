"""Resilience4j, in a configuration of Spring Boot: a call for each instance with a retry or a time limiter.

`maxAttempts` counts the first try; between tries comes `waitDuration`, or grows by its multiplier.  A time limiter ends
one try: Retry stands around it in the default order of aspects.  A breaker that has opened fails every call for
`waitDurationInOpenState`; a bulkhead bounds what runs at once.  An instance takes what it does not say from its
`baseConfig`, else from the config `default`.

SOURCE: Resilience4j documentation, Retry, CircuitBreaker, TimeLimiter, Bulkhead, Getting Started with Spring Boot
(aspect order): maxAttempts 3, waitDuration 500 ms, exponentialBackoffMultiplier 1.5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from coherence.base import units
from coherence.base.units import UnitError
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import duration_text, integer, respelled
from coherence.importers._sketch import Sketch, entry
from coherence.language.document import Node, Scalar, Table

KIND = "Resilience4j"
VARIANTS = True
LOCAL_NAMES = True
SPELLING: Mapping[str, str] = {
    "tries": "maxAttempts", "per_try": "timeoutDuration", "after": "waitDurationInOpenState",
}  # fmt: skip
ROOT = "resilience4j"
SECTIONS = ("retry", "circuitbreaker", "timelimiter", "bulkhead")
OPEN = "circuit_breaker_open"
SETTINGS = {
    "maxAttempts", "waitDuration", "enableExponentialBackoff", "exponentialBackoffMultiplier",
    "exponentialMaxWaitDuration", "timeoutDuration", "waitDurationInOpenState", "maxConcurrentCalls", "baseConfig",
    "retryExceptions", "ignoreExceptions",
}  # fmt: skip
TRIES, PAUSE, FACTOR = "3", "500 ms", "1.5"
Scope = Sequence[FieldView]


def recognises(root: Table) -> bool:
    """Returns whether a document configures Resilience4j: nested, or with names in one key (`resilience4j.retry`)."""
    nested = root.get(ROOT)
    keys = list(nested.entries) if isinstance(nested, Table) else []
    dotted = [key.removeprefix(f"{ROOT}.") for key in root.entries if key.startswith(f"{ROOT}.")]
    return any(key in (*SECTIONS, "ratelimiter", "thread-pool-bulkhead") for key in (*keys, *dotted))


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the call of each instance, what its breaker does, and what its bulkhead lets in."""
    manifest.root = _camel_case(manifest.root)
    sections = {name: view for name in SECTIONS if (view := _section(manifest.top, name)) is not None}
    scopes: dict[str, dict[str, Scope]] = {}
    for name, section in sections.items():
        for instance, scope in _instances(section).items():
            scopes.setdefault(instance, {})[name] = scope
    application = _application(manifest, sketch)
    for instance, own in scopes.items():
        _instance(instance, own, application, sketch)


def _section(top: FieldView, name: str) -> FieldView | None:
    return top.table(f"{ROOT}.{name}") or top.inner(ROOT, name)


def _application(manifest: Manifest, sketch: Sketch) -> str:
    """Returns the thing that calls: by its name in Spring, else by its file."""
    stated = manifest.top.inner("spring", "application")
    name = (stated.scalar("name") if stated else None) or manifest.name
    thing = sketch.names.thing(name.text, "")
    sketch.mention(thing, name.place, f"application {name.text}")
    return thing


def _instances(section: FieldView) -> dict[str, Scope]:
    """Returns each instance with the configs that it takes the rest from."""
    instances, configs = section.table("instances"), section.table("configs")
    scopes: dict[str, Scope] = {}
    for name in instances.node.entries if instances else ():
        view = instances.table(name) if instances else None
        if view is None:
            continue
        base = view.scalar("baseConfig")
        shared = configs.table(base.text if base else "default") if configs else None
        scopes[name] = [view, *([shared] if shared is not None else [])]
    return scopes


def _instance(name: str, sections: Mapping[str, Scope], application: str, sketch: Sketch) -> None:
    place = next(iter(sections.values()))[0].node.place
    thing = sketch.names.thing(name, "", "backend")
    sketch.mention(thing, place, f"backend {name}")
    if "retry" in sections or "timelimiter" in sections:
        values: dict[str, Node | None] = {
            "from": Scalar(application, place),
            "to": Scalar(thing, place),
            "per_try": _duration(sections.get("timelimiter", ()), "timeoutDuration"),
            **_retries(sections.get("retry"), _at(sections)),
        }
        sketch.calls.append(entry(place, values))
    _breaker(sections.get("circuitbreaker", ()), thing, sketch)
    most = _stated(sections.get("bulkhead", ()), "maxConcurrentCalls")
    if most is not None and integer(most[1]) is not None:
        sketch.put_limit(f"{thing}_bulkhead", f"{thing}.requests in flight", most[1], "reject")


def _at(sections: Mapping[str, Scope]) -> Scalar:
    """Returns an empty value at the place of an instance."""
    return Scalar("", next(iter(sections.values()))[0].node.place)


def _retries(scope: Scope | None, at: Scalar) -> dict[str, Node | None]:
    """Returns the tries and their pauses; one try where there is no retry."""
    if scope is None:
        return {"tries": respelled(at, "1")}
    tries = _stated(scope, "maxAttempts")
    if tries is not None and (integer(tries[1]) or 0) < 1:
        words = f"{tries[0].at('maxAttempts')} is '{units.shorten(tries[1].text)}'"
        tries[0].problem(tries[1].place, words, "write a whole number above 0")
        tries = None
    base = _duration(scope, "waitDuration") or respelled(at, PAUSE)
    cap, grows = _duration(scope, "exponentialMaxWaitDuration"), _stated(scope, "enableExponentialBackoff")
    factor = _stated(scope, "exponentialBackoffMultiplier")
    pause: Node = base
    if grows is not None and grows[1].text == "true":
        number = factor[0].quantity("exponentialBackoffMultiplier") if factor else None
        pause = entry(base.place, {"base": base, "factor": number or respelled(at, FACTOR), "cap": cap})
    for view in scope:
        view.remark("retryExceptions", "which failures are tried again")
        view.remark("ignoreExceptions", "which failures are not tried again")
    return {"tries": respelled(tries[1], str(integer(tries[1]))) if tries else respelled(at, TRIES), "pause": pause}


def _breaker(scope: Scope, thing: str, sketch: Sketch) -> None:
    """Adds how long an open breaker fails every call."""
    if not scope:
        return
    place = scope[0].node.place
    sketch.put_timer(
        f"{thing}_open",
        place,
        uses=OPEN,
        start=f"{thing} unavailable",
        after=_duration(scope, "waitDurationInOpenState"),
        then=f"half open {thing}",
    )


def _stated(scope: Scope, key: str) -> tuple[FieldView, Scalar] | None:
    """Returns the first of the views that says a key, with what it says."""
    return next(((view, value) for view in scope if (value := view.scalar(key)) is not None), None)


def _duration(scope: Scope, key: str) -> Scalar | None:
    """Returns a duration of Spring: `500ms`, `1s`, a plain number of milliseconds, `PT1.5S`."""
    stated = _stated(scope, key)
    if stated is None:
        return None
    view, value = stated
    text = value.text.strip()
    if text.isdecimal() and len(text) <= 18:
        return respelled(value, duration_text(Fraction(int(text), 1000)))
    try:
        return respelled(value, duration_text(units.go_duration(text.removeprefix("PT").lower())))
    except UnitError as error:
        view.problem(value.place, f"{view.at(key)}: {error}", error.remedy)
        return None


def _camel_case(table: Table) -> Table:
    """Returns the same with settings as the reference writes them: `max-attempts`, too, is `maxAttempts`."""
    entries = {_camel(key): _inner(node) for key, node in table.entries.items()}
    return Table(entries, {_camel(key): place for key, place in table.keys.items()}, table.place)


def _inner(node: Node) -> Node:
    return _camel_case(node) if isinstance(node, Table) else node


def _camel(key: str) -> str:
    """Returns the name of a setting; any other key, such as that of an instance, as it is."""
    first, *rest = key.split("-")
    name = first + "".join(word[:1].upper() + word[1:] for word in rest)
    return name if name in SETTINGS else key
