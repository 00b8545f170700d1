"""DeerFlow: an agent on LangGraph with its models, its tools and its subagents, as calls within their times.

A model is tried `max_retries` times more, each try for its timeout; a subagent ends after `timeout_seconds`, whatever
it waits for.  A loop that is detected, a budget of tokens and turns end a run.

SOURCE: bytedance/deer-flow, config.example.yaml (config_version 34): subagents.timeout_seconds 1800,
max_total_per_run 6; openai-python and anthropic-sdk-python: timeout 600 s, max_retries 2.  Defaults of clients are in
the part openai_sdk_retry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import respelled, with_first
from coherence.importers._sketch import Sketch, entry
from coherence.language.document import Items, Node, Scalar, Table

KIND = "DeerFlow"
VARIANTS = True
LOCAL_NAMES = True
SPELLING: Mapping[str, str] = {"per_try": "timeout", "tries": "max_retries", "deadline": "timeout_seconds"}
LEAD = "lead_agent"
CLIENT = "openai_sdk_retry"
CLIENTS = ("openai", "anthropic")  # share their constants
SUBAGENT_TIME = "1800 s"
TIMES = ("timeout", "request_timeout", "default_request_timeout")
BUILT_IN = ("general-purpose", "bash")
WIRING = (
    "config_version", "log_level", "logging", "token_usage", "tool_groups", "tool_search", "tool_output", "suggestions",
    "input_polish", "uploads", "skills", "skill_scan", "title", "agents_api", "skill_evolution", "checkpointer",
    "memory", "read_before_write", "safety_finish_reason", "database", "channels", "run_events",
    "stream_bridge", "guardrails",
)  # fmt: skip
OF_MODEL = ("display_name", "use", "model", "api_key", "api_base", "base_url", "max_tokens", "temperature", "pricing",
            "supports_thinking", "supports_vision", "context_window", "when_thinking_enabled")  # fmt: skip


@dataclass(frozen=True)
class ModelCall:
    """The call to a model, without who makes it."""

    name: Scalar
    policy: Mapping[str, Node | None]


def recognises(root: Table) -> bool:
    """Returns whether a document configures DeerFlow: its models are classes, or one of its own limits is set."""
    models = root.get("models")
    has_models = isinstance(models, Items) and any(
        isinstance(model, Table) and "name" in model and _class_of(model).count(":") == 1 for model in models
    )
    return "config_version" in root and (has_models or "max_recursion_limit" in root or "subagents" in root)


def _class_of(model: Table) -> str:
    stated = model.get("use")
    return stated.text if isinstance(stated, Scalar) else ""


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the calls of the agent and of its subagents, and what ends a run."""
    top = manifest.top
    top.pass_over(*WIRING)
    for key in ("max_recursion_limit", "summarization", "acp_agents"):
        top.remark(key, "a ceiling of what a client may ask for" if key.startswith("max") else "not modelled")
    lead = sketch.names.thing(LEAD, "")
    sketch.mention(lead, top.node.place, f"agent of {manifest.file}")
    sketch.routers.add(lead)
    models = _models(top, sketch)
    for call in models.values():
        place = call.name.place
        sketch.calls.append(entry(place, {"from": Scalar(lead, place), **call.policy}))
    _tools(top, lead, sketch)
    _limits(top, lead, sketch)
    subagents = top.table("subagents")
    if subagents is not None:
        _subagents(subagents, lead, models, top.table("sandbox"), sketch)


def _models(top: FieldView, sketch: Sketch) -> dict[str, ModelCall]:
    """Returns the call to each model by its name, without who makes it."""
    calls: dict[str, ModelCall] = {}
    for model in top.tables("models"):
        name = model.required("name")
        if name is None:
            continue
        is_client = any(word in _class_of(model.node).lower() for word in CLIENTS)
        model.pass_over(*OF_MODEL)
        thing = sketch.names.thing(name.text, "", "model")
        sketch.mention(thing, name.place, f"model {name.text}")
        retries = model.whole("max_retries")
        times = [time for key in TIMES if (time := model.decimal_seconds(key)) is not None]
        tries = with_first(retries) if retries is not None else None if is_client else respelled(name, "1")
        policy: dict[str, Node | None] = {
            "to": respelled(name, thing),
            "uses": respelled(name, CLIENT) if is_client else None,
            "per_try": next(iter(times), None),
            "tries": tries,
        }
        calls[name.text] = ModelCall(name, policy)
    return calls


def _tools(top: FieldView, lead: str, sketch: Sketch) -> None:
    """Adds a call to each tool that has a time limit."""
    for tool in top.tables("tools"):
        name, limit = tool.scalar("name"), tool.decimal_seconds("timeout")
        tool.pass_over("group", "use", "api_key", "max_results")
        if name is not None and limit is not None:
            _call(lead, sketch.names.thing(name.text, "", "tool"), limit, sketch)


def _call(caller: str, callee: str, limit: Scalar, sketch: Sketch, *, key: str = "per_try") -> None:
    sketch.mention(callee, limit.place, f"{callee} of an agent")
    ends = {"from": respelled(limit, caller), "to": respelled(limit, callee)}
    sketch.calls.append(entry(limit.place, {**ends, key: limit, "tries": respelled(limit, "1")}))


def _limits(top: FieldView, lead: str, sketch: Sketch) -> None:
    """Adds what ends a run: calls that repeat, and tokens."""
    loops, tokens = top.table("loop_detection"), top.table("token_budget")
    if loops is not None and _is_on(loops):
        for key, counted in (("hard_limit", "repeated_calls"), ("tool_freq_hard_limit", "calls_of_one_tool")):
            _limit(loops.whole(key, least=1), f"{lead}.{counted}", sketch)
        for key in ("warn_threshold", "tool_freq_warn", "window_size", "max_tracked_threads"):
            loops.remark(key, "what is only told to the model is not modelled")
    if tokens is not None and _is_on(tokens):
        for key in ("max_tokens", "max_input_tokens", "max_output_tokens"):
            _limit(tokens.whole(key, least=1), f"{lead}.{key.removeprefix('max_')}", sketch)
        for key in ("warn_threshold", "hard_stop_threshold"):
            tokens.remark(key, "a share of the budget is not modelled")


def _is_on(view: FieldView) -> bool:
    enabled = view.scalar("enabled")
    if enabled is None or enabled.text != "false":
        return True
    view.use(*view.node.entries)
    return False


def _limit(most: Scalar | None, counted: str, sketch: Sketch) -> None:
    if most is not None:
        sketch.put_limit(counted.replace(".", "_"), counted, most, "reject", per="run")


def _subagents(
    view: FieldView, lead: str, models: Mapping[str, ModelCall], sandbox: FieldView | None, sketch: Sketch
) -> None:  # fmt: skip
    """Adds each subagent that is written, and one for those that are not."""
    _limit(view.whole("max_total_per_run", least=1), f"{lead}.subagents", sketch)
    view.remark("token_budget", "of subagents: not modelled")
    common = view.decimal_seconds("timeout_seconds") or Scalar(SUBAGENT_TIME, view.node.place)
    written: dict[str, FieldView] = {}
    for key in ("agents", "custom_agents"):
        agents = view.table(key)
        named = agents.node.entries if agents is not None else ()
        written |= {name: own for name in named if agents is not None and (own := agents.table(name)) is not None}
    command = sandbox.decimal_seconds("bash_command_timeout") if sandbox is not None else None
    for name in dict.fromkeys((*BUILT_IN, *written)):
        own = written.get(name, view)
        limit = (own.decimal_seconds("timeout_seconds") if own is not view else None) or common
        thing = sketch.names.thing(f"subagent {name}", "")
        _call(lead, thing, limit, sketch, key="deadline")
        sketch.routers.add(thing)
        _limit(own.whole("max_turns", least=1), f"{thing}.turns", sketch)
        own.pass_over("description", "system_prompt", "tools", "disallowed_tools", "skills")
        for call in _own_models(own, view, models):
            sketch.calls.append(entry(call.name.place, {"from": respelled(limit, thing), **call.policy}))
        if command is not None:
            _call(thing, sketch.names.thing("sandbox", "", "tool"), command, sketch)


def _own_models(own: FieldView, common: FieldView, models: Mapping[str, ModelCall]) -> Sequence[ModelCall]:
    """Returns the calls of a subagent to its model: the one that is named, else the first of all, as the lead's."""
    stated = own.scalar("model") or (common.scalar("model") if own is not common else None)
    if stated is not None and stated.text in models:
        return [models[stated.text]]
    return [] if stated is not None and stated.text != "inherit" else list(models.values())[:1]
