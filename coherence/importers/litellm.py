"""LiteLLM: a call of the proxy to each model of its list, with its time limit, retries, cooldown and limits of
requests and tokens.

A model's own `timeout` counts before that of the router, and that before `request_timeout`; retries are those of the
router, else of `litellm_settings`, else two.  A try that timed out, was refused or limited is made again, which a
`retry_policy` changes; then come the fallbacks, which are listed.

SOURCE: LiteLLM source (v1.104), router.py, Router.__init__: num_retries (openai.DEFAULT_MAX_RETRIES 2), timeout,
cooldown_time (DEFAULT_COOLDOWN_TIME_SECONDS 5); documentation, Router: rpm, tpm, timeout, allowed_fails.
"""

from __future__ import annotations

from collections.abc import Mapping

from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import with_first
from coherence.importers._sketch import Sketch, entry, listed
from coherence.language.document import Items, Node, Scalar, Table

KIND = "LiteLLM"
VARIANTS = True
LOCAL_NAMES = True
SPELLING: Mapping[str, str] = {"per_try": "timeout", "tries": "num_retries", "after": "cooldown_time"}
SETTINGS = ("litellm_settings", "router_settings")
RETRIES = "2"
CAUSES = ("timeout", "connect_failure", "conflict", "rate_limited", "server_error")
FALLBACKS = ("fallbacks", "context_window_fallbacks", "content_policy_fallbacks", "default_fallbacks")
WIRING = ("routing_strategy", "drop_params", "telemetry", "redis_host", "redis_port", "redis_password",
          "enable_pre_call_checks", "set_verbose", "callbacks", "success_callback", "failure_callback", "master_key",
          "model_group_alias")  # fmt: skip


def recognises(root: Table) -> bool:
    """Returns whether a document configures LiteLLM: a list of its models, or its settings."""
    models = root.get("model_list")
    has_models = isinstance(models, Items) and any(
        isinstance(item, Table) and "litellm_params" in item for item in models
    )
    return has_models or isinstance(root.get(SETTINGS[0]), Table)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the calls, and what the router does with a model that fails."""
    top = manifest.top
    general, router = (top.table(key) for key in SETTINGS)
    proxy = sketch.names.thing(manifest.name.text, "", KIND)
    sketch.mention(proxy, manifest.name.place, f"LiteLLM of {manifest.file}")
    sketch.routers.add(proxy)
    for view in (view for view in (general, router) if view is not None):
        view.pass_over(*WIRING)
        view.remark_all(dict.fromkeys(FALLBACKS, "calls after all tries are not modelled"))
        view.remark("retry_policy", "numbers of tries by their cause are not modelled")
        view.remark("allowed_fails", "how many failures a minute cool a model down")
    scope = [view for view in (router, general) if view is not None]
    common = {"tries": _tries(scope, manifest), "per_try": _first(scope, "timeout") or _first(scope, "request_timeout")}
    cooldown, models = _first(scope, "cooldown_time"), top.tables("model_list")
    for model in models:
        _model(model, proxy, common, cooldown, sketch)
    for key in SETTINGS if not models else ():
        top.remark(key, "there is no model that it is for")


def _first(scope: list[FieldView], key: str) -> Scalar | None:
    """Returns a number of seconds, of the first that says it."""
    return next((time for view in scope if (time := view.decimal_seconds(key)) is not None), None)


def _tries(scope: list[FieldView], manifest: Manifest) -> Scalar:
    """Returns the tries with the first one."""
    stated = next((number for view in scope if (number := view.whole("num_retries")) is not None), None)
    return with_first(stated or Scalar(RETRIES, manifest.root.place))


def _model(
    model: FieldView, proxy: str, common: Mapping[str, Scalar | None], cooldown: Scalar | None, sketch: Sketch
) -> None:  # fmt: skip
    """Adds the call to one deployment of a model, with its limits of requests and tokens and its cooldown."""
    parameters, group = model.table("litellm_params"), model.scalar("model_name")
    name = (parameters.scalar("model") if parameters else None) or group
    if parameters is None or name is None:
        return
    model.remark("model_info", "what is known of the model")
    parameters.remark("stream_timeout", "the time to the first part of a stream is not modelled")
    parameters.pass_over("api_key", "api_base", "api_version", "region_name", "base_url")
    thing = sketch.names.thing(f"{group.text if group else ''} {name.text}", "", "model")
    sketch.mention(thing, name.place, f"model {name.text}")
    parameters.remark("max_retries", "tries of the client inside one of these are not modelled")
    own = parameters.whole("num_retries")
    tries = with_first(own) if own is not None else common["tries"]
    values: dict[str, Node | None] = {
        "from": Scalar(proxy, name.place),
        "to": Scalar(thing, name.place),
        "per_try": parameters.decimal_seconds("timeout") or common["per_try"],
        "tries": tries,
    }
    if tries is not None and tries.text != "1":
        values["retry_when"] = listed([Scalar(cause, name.place) for cause in CAUSES], name.place)
    sketch.calls.append(entry(name.place, values))
    most = parameters.whole("rpm", least=1)
    if most is not None:
        sketch.put_limit(f"{thing}_rpm", f"{thing}.requests", most, "reject", window="1 min")
    tokens = parameters.whole("tpm", least=1)
    if tokens is not None:
        sketch.put_limit(f"{thing}_tpm", f"{thing}.tokens", tokens, "reject", window="1 min")
    if cooldown is not None:
        _cooldown(cooldown, thing, sketch)


def _cooldown(after: Scalar, thing: str, sketch: Sketch) -> None:
    """Adds that a model which failed too often is left out for a while."""
    sketch.put_timer(
        f"{thing}_cooldown",
        layer="runtime",
        objective="rest a failing model",
        start=f"{thing} unavailable",
        after=after,
        then=f"return {thing}",
    )
