"""Load balancers of AWS: the time that a target has for an answer, its health check, and the drain of a target.

An application load balancer ends a connection on which nothing comes for its idle timeout.  A target that fails its
checks so many times in a row gets no more requests, and one that is taken out keeps its open requests for the
deregistration delay.

SOURCE: Elastic Load Balancing, user guide for Application Load Balancers: idle timeout 60 s, deregistration delay
300 s, health checks every 30 s, timeout 5 s, unhealthy after 2 (HTTP).
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.importers._cloud import Cloud, Resource
from coherence.importers._quantities import integer, respelled
from coherence.importers._sketch import Sketch, entry
from coherence.language.document import Node, Scalar

BALANCER, POOL = "aws_lb", "aws_lb_target_group"
LISTENERS = ("aws_lb_listener", "aws_lb_listener_rule")
OWNERS = ("aws_autoscaling_group", "aws_ecs_service")
IDLE, DRAINS, EVERY, WITHIN, MISSES = "60", "300", "30", "5", "2"


def pools(cloud: Cloud, things: dict[str, str], sketch: Sketch) -> None:
    """Adds the checks and the drain of each group of targets, as those of what is registered with it."""
    for pool in cloud.all(POOL):
        owner = next((owner for owner in cloud.all(*OWNERS) if set(_pools_of(owner)) & pool.identifiers), None)
        name = owner.name if owner is not None else pool.name
        thing = things.get(name.text) or sketch.names.thing(name.text, "", "targets")
        things[pool.name.text] = thing
        sketch.mention(thing, pool.name.place, f"targets of {pool.name.text}")
        _check(pool, thing, sketch)
        _drain(pool, thing, sketch)


def _pools_of(owner: Resource) -> Iterator[str]:
    """Yields by what a group of instances, or a service, names its groups of targets."""
    yield from owner.names_of("target_group_arns", "target_group_ar_ns", "target_group_aRNs")
    yield from owner.names_of("TargetGroupARNs")
    for block in owner.blocks("load_balancer", "load_balancers"):
        yield from block.names_of("target_group_arn")


def _check(pool: Resource, thing: str, sketch: Sketch) -> None:
    block = pool.block("health_check") or pool
    if block.scalar("enabled") is not None and not block.is_true("enabled"):
        return
    place = block.view.node.place
    every = block.seconds("interval", "health_check_interval_seconds") or Scalar(f"{EVERY} s", place)
    within = block.seconds("timeout", "health_check_timeout_seconds") or Scalar(f"{WITHIN} s", place)
    misses = block.whole("unhealthy_threshold", "unhealthy_threshold_count") or Scalar(MISSES, place)
    if integer(misses):
        sketch.put_timer(
            f"{thing}_health_check",
            place,
            layer="runtime",
            objective="send requests only to targets that answer",
            start=f"{thing} hangs",
            every=every,
            misses=misses,
            reply_within=within,
            then=f"unlist {thing}",
        )


def _attributes(resource: Resource) -> dict[str, Scalar]:
    """Returns the attributes that a template writes as keys and values."""
    pairs = {}
    for item in resource.blocks("target_group_attributes", "load_balancer_attributes"):
        key, value = item.scalar("key"), item.scalar("value")
        if key is not None and value is not None:
            pairs[key.text] = value
    return pairs


def _seconds(resource: Resource, name: str, attribute: str) -> Scalar | None:
    """Returns a number of seconds, of an attribute or of a pair; None where it is known when it is applied."""
    stated = resource.seconds(name)
    pair = _attributes(resource).get(attribute)
    return stated or (respelled(pair, f"{pair.text} s") if pair is not None and integer(pair) is not None else None)


def _drain(pool: Resource, thing: str, sketch: Sketch) -> None:
    after = _seconds(pool, "deregistration_delay", "deregistration_delay.timeout_seconds")
    if after is None:
        return
    sketch.put_timer(
        f"{thing}_deregistration",
        layer="runtime",
        objective="let open requests end before a target goes",
        during=f"{thing}.drain",
        after=after,
        then=f"close {thing}.connection",
    )


def balancers(cloud: Cloud, things: dict[str, str], sketch: Sketch) -> None:
    """Adds a call of each application load balancer to each group of targets of its listeners."""
    for balancer in cloud.all(BALANCER):
        kind = balancer.scalar("load_balancer_type", "type")
        if kind is not None and kind.text != "application":
            balancer.view.manifest.remarks.append(
                (balancer.name.place, f"{balancer.name.text} (its type is not modelled)")
            )
            continue
        idle = _seconds(balancer, "idle_timeout", "idle_timeout.timeout_seconds")
        limit = idle or Scalar(f"{IDLE} s", balancer.name.place)
        thing = sketch.names.thing(balancer.name.text, "", "load balancer")
        sketch.mention(thing, balancer.name.place, f"load balancer {balancer.name.text}")
        sketch.routers.add(thing)
        for pool in _targets(balancer, cloud):
            values: dict[str, Node | None] = {
                "from": Scalar(thing, limit.place),
                "to": Scalar(things[pool.name.text], limit.place),
                "per_try": limit,
                "tries": respelled(limit, "1"),
                "timeout_kind": respelled(limit, "between bytes"),
            }
            sketch.calls.append(entry(limit.place, values))


def _targets(balancer: Resource, cloud: Cloud) -> list[Resource]:
    """Returns the groups of targets to which the listeners of a load balancer pass requests."""
    own = [item for item in cloud.all(LISTENERS[0]) if set(item.names_of("load_balancer_arn")) & balancer.identifiers]
    names = frozenset(name for item in own for name in item.identifiers)
    rules = [item for item in cloud.all(LISTENERS[1]) if set(item.names_of("listener_arn")) & names]
    pools_of: dict[str, Resource] = {}
    for item in (*own, *rules):
        for action in item.blocks("default_action", "default_actions", "action", "actions"):
            pool = action.named(cloud, [POOL], "target_group_arn")
            if pool is not None:
                pools_of[pool.name.text] = pool
    return list(pools_of.values())
