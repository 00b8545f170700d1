"""Files of every kind with one value replaced by a hostile one: a design, or a problem with its place; nothing else."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from coherence import importers
from coherence.base.errors import InputError
from coherence.cli.import_ import command

POD = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {
        "terminationGracePeriodSeconds": 30,
        "containers": [
            {
                "name": "web",
                "command": ["sh", "-c", "exec vllm serve m --max-num-seqs 8"],
                "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"nvidia.com/gpu": 1}},
                "startupProbe": {"httpGet": {"path": "/", "port": 80}, "periodSeconds": 5, "failureThreshold": 3},
                "livenessProbe": {"exec": {"command": ["cat", "x"]}, "initialDelaySeconds": 5, "timeoutSeconds": 2},
                "lifecycle": {"preStop": {"exec": {"command": ["sh", "-c", "sleep 10"]}}},
            }
        ],
    },
}
MANAGER = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
ENVOY_RETRY = {
    "retry_on": "5xx,retriable-status-codes",
    "num_retries": 2,
    "per_try_timeout": "1s",
    "retriable_status_codes": [429],
    "retry_back_off": {"base_interval": "0.1s", "max_interval": "1s"},
}
ENVOY_CLUSTER = {
    "name": "web",
    "load_assignment": {
        "endpoints": [
            {"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "web", "port_value": 80}}}}]}
        ]
    },
    "circuit_breakers": {
        "thresholds": [
            {
                "priority": "DEFAULT",
                "max_connections": 10,
                "retry_budget": {"budget_percent": {"value": 25.0}, "min_retry_concurrency": 3},
            }
        ]
    },
    "outlier_detection": {"max_ejection_percent": 50},
}
ENVOY_ROUTES = {
    "virtual_hosts": [
        {
            "name": "all",
            "retry_policy": {"retry_on": "reset"},
            "routes": [
                {"match": {"prefix": "/"}, "route": {"cluster": "web", "timeout": "3s", "retry_policy": ENVOY_RETRY}},
                {"route": {"weighted_clusters": {"clusters": [{"name": "web", "weight": 1}]}}},
            ],
        }
    ]
}


def manifest(api: str, kind: str, **rest: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "web", "namespace": "prod"}, **rest}


def beside(*others: dict[str, Any]) -> dict[str, Any]:
    """Returns one list of objects."""
    return {"apiVersion": "v1", "kind": "List", "items": list(others)}


DEPLOYMENT = manifest(
    "apps/v1",
    "Deployment",
    spec={
        "replicas": 3,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}},
        "template": POD,
    },
)
CPU = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 60}}
SCALER = manifest(
    "autoscaling/v2",
    "HorizontalPodAutoscaler",
    spec={
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "minReplicas": 1,
        "maxReplicas": 5,
        "metrics": [{"type": "Resource", "resource": CPU}],
    },
)
BUDGET = manifest(
    "policy/v1",
    "PodDisruptionBudget",
    spec={
        "minAvailable": "50%",
        "selector": {
            "matchLabels": {"app": "web"},
            "matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}],
        },
    },
)
FILES: dict[str, dict[str, Any]] = {
    "budget": beside(manifest("apps/v1", "Deployment", spec={"template": POD}), BUDGET),
    "stateful": manifest(
        "apps/v1",
        "StatefulSet",
        spec={"serviceName": "web", "replicas": 3, "template": POD, "updateStrategy": {"type": "RollingUpdate"}},
    ),
    "sizes": beside(
        DEPLOYMENT,
        SCALER,
        manifest(
            "autoscaling.k8s.io/v1",
            "VerticalPodAutoscaler",
            spec={
                "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                "updatePolicy": {"updateMode": "Recreate", "minReplicas": 2},
                "resourcePolicy": {
                    "containerPolicies": [
                        {
                            "containerName": "*",
                            "mode": "Auto",
                            "controlledResources": ["cpu", "memory"],
                            "controlledValues": "RequestsOnly",
                            "minAllowed": {"cpu": "100m", "memory": "64Mi"},
                            "maxAllowed": {"cpu": 2, "memory": "1Gi"},
                        }
                    ]
                },
            },
        ),
        manifest(
            "v1",
            "LimitRange",
            spec={
                "limits": [
                    {"type": "Container", "max": {"cpu": 1, "memory": "2Gi"}, "min": {"cpu": "50m"}},
                    {"type": "Pod", "max": {"memory": "4Gi"}, "default": {"cpu": 1}},
                ]
            },
        ),
    ),
    "quota": beside(
        DEPLOYMENT,
        manifest(
            "v1",
            "ResourceQuota",
            spec={"hard": {"pods": "4", "requests.cpu": "2500m", "limits.nvidia.com/gpu": 5, "services": 3}},
        ),
        manifest("v1", "ResourceQuota", spec={"hard": {"pods": 9}, "scopes": ["NotBestEffort"]}),
    ),
    "metrics": beside(
        DEPLOYMENT,
        manifest(
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            spec={
                "scaleTargetRef": {"kind": "Deployment", "name": "web"},
                "maxReplicas": 5,
                "metrics": [{"type": "Pods", "pods": {"metric": {"name": "a"}, "target": {"averageValue": 5}}}],
            },
        ),
        manifest("v1", "Service", spec={"selector": {"app": "web"}}),
        manifest(
            "monitoring.coreos.com/v1",
            "ServiceMonitor",
            spec={
                "namespaceSelector": {"matchNames": ["prod"], "any": False},
                "selector": {"matchLabels": {"app": "web"}},
                "endpoints": [{"port": "http", "interval": "30s"}],
            },
        ),
        manifest(
            "monitoring.coreos.com/v1",
            "PodMonitor",
            spec={"selector": {}, "podMetricsEndpoints": [{"interval": "1m"}]},
        ),
        manifest("monitoring.coreos.com/v1", "Prometheus", spec={"scrapeInterval": "30s", "evaluationInterval": "1m"}),
        manifest(
            "monitoring.coreos.com/v1",
            "PrometheusRule",
            spec={"groups": [{"name": "g", "interval": "1m", "rules": [{"record": "a:b", "expr": "rate(c[5m])"}]}]},
        ),
        manifest("v1", "ConfigMap", data={"config.yaml": "rules: [{seriesQuery: a, metricsQuery: 'sum(a:b)'}]"}),
    ),
    "adapter": {
        "rules": [
            {
                "seriesQuery": "a_total",
                "name": {"matches": "^(.*)_total$", "as": "${1}_rate"},
                "resources": {"overrides": {}},
                "metricsQuery": "sum(rate(<<.Series>>[2m]))",
            }
        ]
    },
    "flags": manifest(
        "apps/v1",
        "Deployment",
        spec={
            "template": {
                "spec": {
                    "containers": [
                        {
                            "command": ["./cluster-autoscaler", "--nodes=1:10:a", "--scan-interval", "20s"],
                            "args": ["--scale-down-utilization-threshold=0.6", "--scale-down-unneeded-time=5m"],
                        },
                        {"image": "x/prometheus-adapter:v1", "args": ["--metrics-relist-interval=1m"]},
                    ]
                }
            }
        },
    ),
    "rollout": beside(
        manifest(
            "argoproj.io/v1alpha1",
            "Rollout",
            spec={
                "replicas": 3,
                "progressDeadlineSeconds": 60,
                "progressDeadlineAbort": True,
                "template": POD,
                "strategy": {"canary": {"maxSurge": "25%", "maxUnavailable": 0, "steps": [{"setWeight": 20}]}},
            },
        ),
        manifest(
            "argoproj.io/v1alpha1",
            "Rollout",
            spec={
                "template": POD,
                "strategy": {"canary": {"trafficRouting": {"nginx": {}}, "dynamicStableScale": False}},
            },
        ),
    ),
    "policies": beside(
        manifest(
            "gateway.networking.k8s.io/v1",
            "HTTPRoute",
            spec={"parentRefs": [{"name": "edge"}], "rules": [{"backendRefs": [{"name": "web"}]}]},
        ),
        manifest(
            "gateway.envoyproxy.io/v1alpha1",
            "BackendTrafficPolicy",
            spec={
                "targetRefs": [{"kind": "HTTPRoute", "name": "web"}],
                "timeout": {"http": {"requestTimeout": "10s"}},
                "retry": {
                    "numRetries": 5,
                    "perRetry": {"timeout": "3s", "backOff": {"baseInterval": "100ms", "maxInterval": "1s"}},
                    "retryOn": {"triggers": ["5xx", "retriable-status-codes"], "httpStatusCodes": [500, 504]},
                },
                "circuitBreaker": {"maxPendingRequests": 5},
                "healthCheck": {"passive": {"maxEjectionPercent": 50}},
            },
        ),
        manifest(
            "gateway.networking.x-k8s.io/v1alpha1",
            "XBackendTrafficPolicy",
            spec={
                "targetRefs": [{"group": "", "kind": "Service", "name": "web"}],
                "retryConstraint": {
                    "budget": {"percent": 20, "interval": "10s"},
                    "minRetryRate": {"count": 3, "interval": "1s"},
                },
            },
        ),
        manifest(
            "networking.istio.io/v1",
            "DestinationRule",
            spec={"host": "web", "trafficPolicy": {"retryBudget": {"percent": 25.5, "minRetryConcurrency": 5}}},
        ),
    ),
    "ray": manifest(
        "ray.io/v1",
        "RayService",
        spec={
            "serveConfigV2": "applications: [{import_path: x, deployments: [{name: a, autoscaling_config: {}}]}]",
            "rayClusterConfig": {
                "rayVersion": "2.52.0",
                "enableInTreeAutoscaling": True,
                "autoscalerOptions": {"idleTimeoutSeconds": 60},
                "workerGroupSpecs": [{"groupName": "g", "replicas": 1, "minReplicas": 0, "maxReplicas": 5}],
            },
        },
    ),
    "inference": beside(
        manifest(
            "serving.kserve.io/v1beta1",
            "InferenceService",
            spec={
                "predictor": {
                    "minReplicas": 1,
                    "maxReplicas": 5,
                    "timeout": 60,
                    "containerConcurrency": 4,
                    "model": {"resources": {"requests": {"cpu": 1}}, "livenessProbe": {"periodSeconds": 5}},
                }
            },
        ),
        manifest(
            "serving.kserve.io/v1alpha2",
            "LLMInferenceService",
            spec={
                "replicas": 3,
                "template": POD["spec"],
                "prefill": {"replicas": 2, "template": POD["spec"]},
                "router": {"scheduler": {"template": POD["spec"]}},
            },
        ),
    ),
    "models": {
        "model_list": [
            {
                "model_name": "a",
                "litellm_params": {"model": "x/y", "timeout": 60, "num_retries": 1, "rpm": 480},
                "model_info": {"id": "1"},
            }
        ],
        "litellm_settings": {"num_retries": 3, "request_timeout": 600, "fallbacks": [{"a": ["b"]}]},
        "router_settings": {"num_retries": 2, "timeout": 120, "cooldown_time": 30, "allowed_fails": 2},
    },
    "library": {
        "spring": {"application": {"name": "shop"}},
        "resilience4j": {
            "retry": {
                "configs": {"default": {"maxAttempts": 3}},
                "instances": {
                    "pay": {
                        "baseConfig": "default",
                        "waitDuration": "1s",
                        "enableExponentialBackoff": True,
                        "exponentialBackoffMultiplier": 2,
                        "exponentialMaxWaitDuration": 5000,
                    }
                },
            },
            "timelimiter": {"instances": {"pay": {"timeoutDuration": "2s"}}},
            "circuitbreaker": {"instances": {"pay": {"waitDurationInOpenState": "30s"}}},
            "bulkhead": {"instances": {"pay": {"maxConcurrentCalls": 25}}},
        },
    },
    "serve": {
        "applications": [
            {
                "import_path": "a:b",
                "args": {"llm_configs": [{"model_loading_config": {"model_id": "m"}, "deployment_config": {}}]},
                "deployments": [
                    {
                        "name": "a",
                        "num_replicas": "auto",
                        "max_ongoing_requests": 5,
                        "max_queued_requests": -1,
                        "graceful_shutdown_timeout_s": 20,
                        "autoscaling_config": {
                            "min_replicas": 1,
                            "max_replicas": 5,
                            "target_ongoing_requests": 2,
                            "metrics_interval_s": 0.2,
                            "look_back_period_s": 30,
                            "upscale_delay_s": 30,
                            "downscale_delay_s": 600,
                        },
                    }
                ],
            }
        ]
    },
    "daemon": manifest("apps/v1", "DaemonSet", spec={"template": POD}),
    "cron": manifest(
        "batch/v1",
        "CronJob",
        spec={
            "schedule": "*/5 * * * *",
            "concurrencyPolicy": "Allow",
            "suspend": False,
            "jobTemplate": {"spec": {"activeDeadlineSeconds": 60, "template": POD}},
        },
    ),
    "nodes": manifest(
        "karpenter.sh/v1",
        "NodePool",
        spec={
            "disruption": {
                "consolidationPolicy": "WhenEmpty",
                "consolidateAfter": "30s",
                "budgets": [
                    {"nodes": "10%"},
                    {"nodes": "0", "schedule": "0 9 * * mon-fri", "duration": "8h"},
                    {"nodes": "5", "reasons": ["Drifted"]},
                ],
            }
        },
    ),
    "argo": beside(
        DEPLOYMENT,
        SCALER,
        manifest(
            "argoproj.io/v1alpha1",
            "Application",
            spec={
                "destination": {"namespace": "prod"},
                "syncPolicy": {
                    "automated": {"selfHeal": True, "enabled": True},
                    "syncOptions": ["RespectIgnoreDifferences=true"],
                },
                "ignoreDifferences": [{"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/other"]}],
            },
        ),
    ),
    "flux": beside(
        DEPLOYMENT,
        SCALER,
        manifest(
            "kustomize.toolkit.fluxcd.io/v1",
            "Kustomization",
            spec={"targetNamespace": "prod", "interval": "10m", "suspend": False},
        ),
    ),
    "route": manifest(
        "gateway.networking.k8s.io/v1",
        "HTTPRoute",
        spec={
            "parentRefs": [{"name": "edge", "namespace": "prod"}],
            "rules": [
                {
                    "backendRefs": [{"name": "web", "namespace": "prod", "port": 80}],
                    "timeouts": {"request": "10s", "backendRequest": "2s"},
                    "retry": {"attempts": 3, "backoff": "100ms", "codes": [500, 503]},
                }
            ],
        },
    ),
    "grpc": {
        "methodConfig": [
            {
                "name": [{"service": "a.B", "method": "c"}],
                "timeout": "5s",
                "retryPolicy": {
                    "maxAttempts": 4,
                    "initialBackoff": "0.1s",
                    "maxBackoff": "1s",
                    "backoffMultiplier": 2,
                    "retryableStatusCodes": ["UNAVAILABLE", 4],
                },
            },
            {
                "name": [{}],
                "hedgingPolicy": {"maxAttempts": 3, "hedgingDelay": "1s", "nonFatalStatusCodes": ["INTERNAL"]},
            },
        ]
    },
    "envoy": {
        "node": {"cluster": "edge", "id": "edge-1"},
        "static_resources": {
            "listeners": [
                {"filter_chains": [{"filters": [{"typed_config": {"@type": MANAGER, "route_config": ENVOY_ROUTES}}]}]}
            ],
            "clusters": [ENVOY_CLUSTER],
        },
    },
    "production stack": {
        "servingEngineSpec": {
            "enableEngine": True,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
            "startupProbe": {"initialDelaySeconds": 20, "httpGet": {"path": "/", "port": 80}},
            "modelSpec": [
                {
                    "name": "llama",
                    "enabled": True,
                    "replicaCount": 2,
                    "requestCPU": 1,
                    "requestGPU": 1,
                    "requestGPUType": "nvidia.com/gpu",
                    "raySpec": {"enabled": False},
                    "vllmConfig": {"maxNumSeqs": 32, "extraArgs": ["--seed", "1"]},
                    "keda": {"enabled": True, "minReplicaCount": 1, "maxReplicaCount": 3},
                    "pdb": {"enabled": True, "minAvailable": 1},
                }
            ],
        },
        "routerSpec": {
            "enableRouter": True,
            "replicaCount": 1,
            "resources": {"requests": {"cpu": 1}},
            "extraArgs": ["--x"],
            "autoscaling": {"enabled": True, "minReplicas": 1, "maxReplicas": 3, "targetCPUUtilizationPercentage": 80},
            "pdb": {"enabled": True, "maxUnavailable": 1},
            "livenessProbe": {"periodSeconds": 3},
        },
    },
    "resources": {
        "resources": [{"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", **ENVOY_ROUTES}]
    },
}
HOSTILE: tuple[Any, ...] = (
    None, True, 0, -1, 1e308, 10**40, 10**4000, 0.1, "", "x", "1e9999", "1e-9999", "-5", "9" * 5000, "*/" + "9" * 5000,
    "{{ .Values.x }}", "É²٣\u202e", "a.b: c -> d", "1" * 40 + "x", "99999999h", "100000000000000000000%", "0s", "NaN",
    [], {}, [None], [[1]], ["x", {}], {"x": [{}]}, {"": None}, {"{{ x }}": 1}, {"a.b[0]": {"c": "d"}},
)  # fmt: skip

Path = tuple[str | int, ...]


def paths(node: Any, above: Path = ()) -> Iterator[Path]:
    """Yields the path of every node below this one."""
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        yield (*above, key)
        yield from paths(child, (*above, key))


def replaced(file: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """Returns a copy of a file with another value at a path."""
    root = copy.deepcopy(file)
    holder: Any = root
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return root


def replaced_everywhere(node: Any, key: str, value: Any) -> Any:
    """Returns a copy of a node with another value under a key, wherever that stands."""
    if isinstance(node, dict):
        return {name: value if name == key else replaced_everywhere(it, key, value) for name, it in node.items()}
    return [replaced_everywhere(it, key, value) for it in node] if isinstance(node, list) else node


def problems(text: str, file: str) -> int:
    """Returns how many problems a file has; any other failure is one of the importer."""
    try:
        importers.design_from_sources({file: text})
    except InputError as error:
        return len(error.problems)
    return 0


PLACES = [(name, path) for name, file in FILES.items() for path in paths(file)]


@pytest.mark.parametrize("name", FILES)
def test_the_files_have_no_problem_as_they_are(name: str) -> None:
    assert problems(json.dumps(FILES[name]), "file.yaml") == 0


@given(st.sampled_from(PLACES), st.sampled_from(HOSTILE))
def test_a_hostile_value_anywhere_is_read_or_refused(place: tuple[str, Path], value: Any) -> None:
    name, path = place
    problems(json.dumps(replaced(FILES[name], path, value)), "file.yaml")


@pytest.mark.parametrize("text", ["", "---\n---\n", "# nothing\n"])
def test_an_import_of_nothing_is_refused(text: str, tmp_path: FilePath) -> None:
    path = tmp_path / "empty.yaml"
    path.write_text(text)
    result = CliRunner().invoke(command, ["all", str(path)])
    assert isinstance(result.exception, InputError)
    assert "no known manifest in these files" in str(result.exception)
