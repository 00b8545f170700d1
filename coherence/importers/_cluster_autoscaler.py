"""Cluster Autoscaler: for each node group of its flags a loop that adds nodes and one that removes them.

`--nodes=1:10:name` is a group with its bounds; groups that are discovered have theirs at the cloud, and are listed.
A node goes that asked less than the threshold of its room for the unneeded time, and not until the delay after the last
addition is over.

SOURCE: Cluster Autoscaler FAQ, What are the parameters to CA: scale-down-utilization-threshold 0.5,
scale-down-unneeded-time 10m, scale-down-delay-after-add 10m, scan-interval 10s.  Defaults are in the parts.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.base import units
from coherence.importers._flags import Flags
from coherence.importers._quantities import amount, duration_text, exact, integer, respelled, value_of
from coherence.importers._sketch import Sketch, default_scalar, entry, listed
from coherence.language.document import Node, Scalar

UP, DOWN = "cluster_autoscaler", "cluster_autoscaler_scale_down"
TEN_MINUTES, HALF = "10 min", "0.5"


def read(flags: Flags, sketch: Sketch) -> None:
    """Adds the loops of each group."""
    enabled, unneeded = flags.last("scale-down-enabled"), _unneeded(flags)
    timing = (flags.duration("scan-interval"), flags.duration("scale-down-delay-after-add"))
    cooldown = flags.duration("scale-down-delay-after-delete")
    for stated in flags.all("nodes"):
        least, most, name = [*stated.text.split(":", 2), "", ""][:3]
        low, high = respelled(stated, least), respelled(stated, most)
        if integer(low) is None or integer(high) is None or not name:
            words = f"--nodes is '{units.shorten(stated.text)}'"
            flags.container.problem(stated.place, words, "write --nodes=<least>:<most>:<group>")
            continue
        thing = sketch.names.thing(name, "", "node group")
        sketch.mention(thing, stated.place, f"node group {name}")
        actuation: dict[str, Node | None] = {
            "signal": respelled(stated, f"{thing}.copies"),
            "bounds": listed([low, high], stated.place),
        }
        adds = _loop(UP, respelled(stated, f"{thing}.pods_pending > 0"), actuation, thing, sketch, period=timing[0])
        if enabled is None or enabled.text != "false":
            trigger = _removal(unneeded, thing, adds, *timing)
            _loop(DOWN, trigger, actuation, thing, sketch, period=timing[0], cooldown=cooldown)


def _loop(
    part: str, trigger: Scalar, actuation: dict[str, Node | None], thing: str, sketch: Sketch, **timing: Scalar | None
) -> str:
    """Adds one loop of a group, and returns its name."""
    place = actuation["bounds"].place if actuation["bounds"] is not None else trigger.place
    values: dict[str, Node | None] = {
        "uses": Scalar(part, place),
        "trigger": trigger,
        "timescale": entry(place, timing) if any(timing.values()) else None,
        "actuation": entry(place, actuation),
    }
    name = sketch.names.fresh(f"{thing}_scale_{'up' if part == UP else 'down'}")
    sketch.put("loops", name, place, values)
    return name


def _unneeded(flags: Flags) -> Scalar:
    """Returns when a node is unneeded: the share of its room and for how long."""
    threshold, unneeded = flags.last("scale-down-utilization-threshold"), flags.duration("scale-down-unneeded-time")
    share = amount(threshold.text if threshold else HALF)
    if share is None or threshold is None:
        if threshold is not None:
            words = f"--scale-down-utilization-threshold is '{units.shorten(threshold.text)}'"
            flags.container.problem(threshold.place, words, "write for example 0.5")
        share = Fraction(1, 2)
    text = f"{exact(share * 100)} % for {unneeded.text if unneeded else TEN_MINUTES}"
    return respelled(unneeded or threshold or Scalar("", flags.place), text)


def _removal(unneeded: Scalar, thing: str, adds: str, scan: Scalar | None, delay: Scalar | None) -> Scalar:
    """Returns the trigger of a removal; the first scan that adds nothing is a scan after the one that does."""
    period = value_of(scan or default_scalar(UP, "timescale.period"))
    since = max(units.quantity(delay.text if delay else TEN_MINUTES)[0] - period, Fraction(0))
    idle = f" and (not {adds}) for {duration_text(since)}" if since else ""
    return respelled(unneeded, f"{thing}.requested < {unneeded.text}{idle}")
