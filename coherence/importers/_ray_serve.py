"""Deployments of Ray Serve: the loop that chooses the number of replicas, what one replica takes, how long it may end.

Defaults of `autoscaling_config` are those of the part ray_serve; before Ray 2.32 the target was 1.  From 2.10 on the
measured value counts queued requests too.  With a factor the step is so many times what the target asks for.

SOURCE: Ray documentation, AutoscalingConfig, DeploymentSchema, Advanced Ray Serve Autoscaling.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from coherence.base import units
from coherence.importers._kubernetes import FieldView
from coherence.importers._quantities import amount, between, integer, respelled
from coherence.importers._sketch import Scaling, Sketch, default_of, default_scalar, entry, listed
from coherence.language.document import Items, Node, Scalar, Table

PART, BEFORE = "ray_serve", "ray_serve_before_2_32"
SPELLING: Mapping[str, str] = {
    "hold_up": "upscale_delay_s", "hold_down": "downscale_delay_s", "setpoint": "target_ongoing_requests",
}  # fmt: skip
UP = ("upscaling_factor", "upscale_smoothing_factor", "smoothing_factor")  # the last two before Ray 2.10
DOWN = ("downscaling_factor", "downscale_smoothing_factor", "smoothing_factor")
AUTO = "100"  # most replicas of num_replicas: auto


def is_config(root: Table) -> bool:
    """Returns whether a mapping is a config of Ray Serve."""
    applications = root.get("applications")
    return isinstance(applications, Items) and any(
        isinstance(item, Table) and "import_path" in item for item in applications
    )


def add_applications(view: FieldView, sketch: Sketch, *, version: str = "") -> None:
    """Adds the deployments of every application, those of an LLM config by their model."""
    for application in view.tables("applications"):
        application.pass_over("import_path", "name", "route_prefix", "runtime_env")
        for deployment in application.tables("deployments"):
            name = deployment.required("name")
            if name is not None:
                _deployment(deployment, name, sketch, version)
        arguments = application.table("args") if isinstance(application.node.get("args"), Table) else None
        for config in arguments.tables("llm_configs") if arguments and _has_configs(arguments) else ():
            model, own = config.inner("model_loading_config"), config.table("deployment_config")
            name = model.scalar("model_id") if model else None
            if own is not None and name is not None:
                _deployment(own, name, sketch, version)


def _has_configs(arguments: FieldView) -> bool:
    """Returns whether the configs of the models stand here, and not in a file that is named."""
    node = arguments.node.get("llm_configs")
    return isinstance(node, Items) and all(isinstance(config, Table) for config in node)


def _deployment(view: FieldView, name: Scalar, sketch: Sketch, version: str) -> None:
    thing = sketch.names.thing(name.text, "", "Serve deployment")
    sketch.mention(thing, name.place, f"Ray Serve deployment {name.text}")
    number = view.scalar("num_replicas")
    automatic = number is not None and number.text == "auto"
    scaling = view.table("autoscaling_config")
    if scaling is not None or automatic:
        own = scaling or FieldView(Table({}, {}, name.place), view.at("autoscaling_config"), view.manifest)
        _loop(own, name, thing, sketch, most=AUTO if automatic else "1", version=version)
    elif number is not None and integer(number) is not None:
        sketch.state(thing, "copies", number)
    if number is not None and integer(number) is None and not automatic:
        words = f"{view.at('num_replicas')} is '{units.shorten(number.text)}'"
        view.problem(number.place, words, "write a whole number, or `auto`")
    elif scaling is not None and not automatic:
        view.remark("num_replicas", "autoscaling_config says how many")
    _limits(view, thing, sketch)
    _grace(view, thing, sketch)


def _loop(view: FieldView, name: Scalar, thing: str, sketch: Sketch, *, most: str, version: str) -> None:
    """Adds the loop of one deployment, and the range of its replicas."""
    place = view.node.place
    for key in ("initial_replicas", "target_num_ongoing_requests_per_replica", "policy"):
        view.remark(key, "not among what the loop of Ray Serve is modelled by")
    low, high = (
        view.whole("min_replicas") or Scalar("1", place),
        view.whole("max_replicas", least=1) or Scalar(most, place),
    )
    up, down = view.decimal_seconds("upscale_delay_s"), view.decimal_seconds("downscale_delay_s")
    period = view.decimal_seconds("metrics_interval_s")
    times = {"period": period, "hold_up": up, "hold_down": down}
    part, setpoint = BEFORE if _older(version, 2, 32) else PART, view.quantity("target_ongoing_requests")
    target: dict[str, Node | None] = {
        "signal": Scalar(f"{thing}.ongoing", place),
        "setpoint": setpoint,
        "sensor": _sensor(view, period, blind=_older(version, 2, 10)),
    }
    values: dict[str, Node | None] = {
        "uses": Scalar(part, place),
        "target": entry(place, target),
        "timescale": entry(place, times) if any(times.values()) else None,
        "actuation": entry(
            place,
            {
                "signal": Scalar(f"{thing}.replicas", place),
                **_law(view, thing, setpoint or default_scalar(part, "target.setpoint")),
                "bounds": listed([low, high], place),
            },
        ),
    }
    loop = sketch.names.fresh(f"{name.text}_serve")
    sketch.put("loops", loop, name.place, values)
    sketch.scaled.setdefault(thing, []).append(Scaling(loop, low, high))
    if (integer(low) or 0) <= (integer(high) or 0):
        sketch.state(thing, "copies", between(low, high))


def _law(view: FieldView, thing: str, setpoint: Scalar) -> dict[str, Node | None]:
    """Returns the law with factors, where one is not 1; else none, and that of the part holds.

    SOURCE: Ray source, serve/autoscaling_policy.py, _calculate_desired_num_replicas: ceil(running x smoothed ratio).
    """
    up, down = _factor(view, UP), _factor(view, DOWN)
    stated = [factor for factor in (up, down) if factor is not None and amount(factor.text) != 1]
    if not stated:
        return {}
    error, replicas = f"({thing}.ongoing / {setpoint.text} - 1)", f"{thing}.replicas"
    more, less = f"{_text(up)} * max({error}, 0)", f"{_text(down)} * min({error}, 0)"
    return {
        "law": respelled(stated[0], "set"),
        "to": respelled(stated[0], f"ceil({replicas} * (1 + {more} + {less}))"),
    }


def _factor(view: FieldView, keys: tuple[str, ...]) -> Scalar | None:
    """Returns the first of some factors that is written."""
    return next((factor for factor in [view.quantity(key) for key in keys] if factor is not None), None)


def _text(factor: Scalar | None) -> str:
    return "1" if factor is None else factor.text


def _sensor(view: FieldView, period: Scalar | None, *, blind: bool) -> Node | None:
    """Returns the chain of the measured value; None where the part says it all."""
    look_back = view.decimal_seconds("look_back_period_s")
    default, _ = default_of(PART, "target.sensor")
    own = [link for link in default if isinstance(link, Scalar)] if isinstance(default, Items) else []
    links: list[Node] = [
        respelled(period, f"scrape {period.text}") if period else own[0],
        respelled(look_back, f"mean {look_back.text}") if look_back else own[1],
    ]
    return listed([*links, *(() if blind else (Scalar("sees queued requests", view.node.place),))], view.node.place)


def _limits(view: FieldView, thing: str, sketch: Sketch) -> None:
    """Adds what one replica works on at once, and how many may wait before requests are refused."""
    ongoing, queued = view.whole("max_ongoing_requests", least=1), view.scalar("max_queued_requests")
    if ongoing is not None:
        sketch.put_limit(f"{thing}_ongoing", f"{thing}.ongoing", ongoing, "wait", per="replica")
    if queued is not None and queued.text.strip() != "-1" and view.whole("max_queued_requests") is not None:
        sketch.put_limit(f"{thing}_waiting", f"{thing}.waiting", queued, "reject")


def _grace(view: FieldView, thing: str, sketch: Sketch) -> None:
    """Adds the time that a replica has to end its requests, where it is written."""
    after = view.decimal_seconds("graceful_shutdown_timeout_s")
    if after is None:
        return
    sketch.put_timer(
        f"{thing}_grace",
        layer="runtime",
        objective="end a replica",
        during=f"{thing}.drain",
        after=after,
        then=f"kill {thing}",
    )


def _older(version: str, major: int, minor: int) -> bool:
    """Returns whether a version of Ray is stated and older."""
    match = re.match(r"([0-9]{1,4})\.([0-9]{1,4})", version)
    return match is not None and (int(match[1]), int(match[2])) < (major, minor)
