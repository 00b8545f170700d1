"""Addresses: the workload behind a host, and the proxy that runs a configuration, in files as they are kept."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from coherence import importers
from coherence.checking.reports import check
from coherence.findings.finding import Finding, Verdict
from coherence.importers import documents_of
from coherence.language.reading import read_text

MANAGER = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
PROXIES = ("envoy", "nginx", "haproxy")
FILES = {"envoy": "envoy.yaml", "nginx": "nginx.conf", "haproxy": "haproxy.cfg"}
PORT = {"envoy": 10000, "nginx": 80, "haproxy": 8404, "app": 8080}
INSIDE = {"envoy": "/etc/envoy/envoy.yaml", "nginx": "/etc/nginx/nginx.conf", "haproxy": "/usr/local/etc/haproxy.cfg"}


def envoy(host: str, port: int, *, tries: int = 3, deadline: int = 9) -> str:
    retry = f"retry_policy: {{retry_on: 5xx, num_retries: {tries - 1}, per_try_timeout: {deadline // tries}s}}"
    return f"""\
static_resources:
  listeners:
  - address: {{socket_address: {{address: 0.0.0.0, port_value: 10000}}}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          '@type': {MANAGER}
          stat_prefix: ingress
          route_config:
            virtual_hosts:
            - name: all
              domains: ['*']
              routes:
              - match: {{prefix: /}}
                route: {{cluster: inner, timeout: {deadline}s, {retry if tries > 1 else "priority: DEFAULT"}}}
  clusters:
  - name: inner
    type: STRICT_DNS
    load_assignment:
      cluster_name: inner
      endpoints:
      - lb_endpoints:
        - endpoint: {{address: {{socket_address: {{address: {host}, port_value: {port}}}}}}}
"""


def nginx(host: str, port: int, *, tries: int = 3, deadline: int = 9) -> str:
    servers = "\n".join(f"    server {host}:{port};" for _ in range(tries))
    return f"""\
events {{}}
http {{
  upstream inner {{
{servers}
  }}
  server {{
    listen 80;
    location / {{
      proxy_pass http://inner;
      proxy_read_timeout {deadline}s;
      proxy_next_upstream error timeout http_502 http_503;
    }}
  }}
}}
"""


def haproxy(host: str, port: int, *, tries: int = 3, deadline: int = 9) -> str:
    return f"""\
defaults
  mode http
  timeout connect 1s
  timeout client 60s
  timeout server {deadline}s
  retries {tries - 1}
  retry-on response-timeout empty-response 502 503
frontend front
  bind :8404
  default_backend inner
backend inner
  server one {host}:{port}
"""


WRITERS = {"envoy": envoy, "nginx": nginx, "haproxy": haproxy}


def compose(*row: str) -> str:
    """Returns a compose file whose proxies mount their configurations."""
    body = "".join(
        f"  {name}:\n    image: {name}:3\n    volumes:\n      - ./{FILES[name]}:{INSIDE[name]}:ro\n" for name in row
    )
    return f"services:\n{body}  app:\n    image: app:1\n"


def in_compose(*row: str, tries: int = 3, deadline: int = 9) -> dict[str, str]:
    """Returns a compose file with proxies in a row, each with a file of its own."""
    inner = dict(zip(row, (*row[1:], "app"), strict=True))
    proxies = {
        f"stack/{FILES[name]}": WRITERS[name](to, PORT[to], tries=tries, deadline=deadline)
        for name, to in inner.items()
    }
    return {"stack/docker-compose.yml": compose(*row), **proxies}


def workload(name: str, *, namespace: str = "shop", mounts: str = "", labels: str = "") -> str:
    """Returns a Deployment, which may mount a ConfigMap, under a name that its Service has not."""
    volumes = f"\n      volumes: [{{name: config, configMap: {{name: {mounts}}}}}]" if mounts else ""
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}-v1, namespace: {namespace}}}
spec:
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {labels or name}, tier: any}}}}
    spec:
      containers: [{{name: {name}, image: "{name}:1"}}]{volumes}
"""


def service(name: str, *, namespace: str = "shop", more: str = "") -> str:
    spec = more or f"selector: {{app: {name}}}, ports: [{{port: {PORT.get(name, 80)}}}]"
    return f"apiVersion: v1\nkind: Service\nmetadata: {{name: {name}, namespace: {namespace}}}\nspec: {{{spec}}}\n"


def config_map(name: str, file: str, text: str, namespace: str = "shop") -> str:
    body = textwrap.indent(text, "    ")
    metadata = f"{{name: {name}, namespace: {namespace}}}"
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {metadata}\ndata:\n  {file}: |\n{body}"


def in_kubernetes(*row: str, tries: int = 3, deadline: int = 9, suffix: str = "") -> dict[str, str]:
    """Returns what `kubectl get -o yaml` writes of the same: a List with ConfigMaps, Deployments and Services."""
    inner, objects = dict(zip(row, (*row[1:], "app"), strict=True)), [workload("app"), service("app")]
    for name, to in inner.items():
        text = WRITERS[name](f"{to}{suffix}", PORT[to], tries=tries, deadline=deadline)
        objects += [config_map(f"{name}-files", FILES[name], text), workload(name, mounts=f"{name}-files")]
        objects.append(service(name))
    items = "".join(textwrap.indent(one, "  ").replace("  ", "- ", 1) for one in objects)
    return {"dump.yaml": f"apiVersion: v1\nkind: List\nitems:\n{items}"}


def calls(sources: dict[str, str]) -> list[str]:
    return [call.name for call in importers.design_from_sources(sources).calls]


def remarks(sources: dict[str, str]) -> str:
    return "\n".join(words for _, words in importers.design_from_sources(sources).not_modelled)


def conflicts(sources: dict[str, str], folder: Path) -> list[Finding]:
    for name, text in sources.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return [finding for finding in check(folder).findings if finding.verdict is Verdict.CONFLICT]


ROWS = [(a, b) for a in PROXIES for b in PROXIES if a != b] + [PROXIES, PROXIES[::-1], ("nginx", "envoy", "haproxy")]


@pytest.mark.parametrize("row", ROWS, ids="-".join)
@pytest.mark.parametrize("suffix", ["", ".shop", ".shop.svc", ".shop.svc.cluster.local", ".shop.svc.cluster.local."])
def test_proxies_in_a_row_of_kubernetes_are_one_chain(row: tuple[str, ...], suffix: str) -> None:
    expected = [f"{a}_v1 -> {b}_v1" for a, b in zip(row, (*row[1:], "app"), strict=True)]
    assert sorted(calls(in_kubernetes(*row, suffix=suffix))) == sorted(expected)


@pytest.mark.parametrize("row", ROWS, ids="-".join)
def test_proxies_in_a_row_of_a_compose_file_are_one_chain(row: tuple[str, ...]) -> None:
    expected = [f"{a} -> {b}" for a, b in zip(row, (*row[1:], "app"), strict=True)]
    assert sorted(calls(in_compose(*row))) == sorted(expected)


@pytest.mark.slow
@pytest.mark.parametrize("write", [in_compose, in_kubernetes])
@pytest.mark.parametrize("row", [PROXIES, PROXIES[::-1]], ids="-".join)
def test_retries_in_a_row_of_three_conflict_and_their_repaired_twin_is_silent(
    write: type, row: tuple[str, ...], tmp_path: Path
) -> None:
    found = conflicts(write(*row), tmp_path / "broken")
    assert {finding.code for finding in found} == {"COH201"}
    last = sorted(one for finding in found for one in finding.of if "app" in one)
    assert last
    assert all(one.partition(" -> ")[0].startswith(row[-1]) for one in last)  # the innermost retries are late
    names = FILES if write is in_compose else dict.fromkeys(row, "dump.yaml")
    (late,) = (finding for finding in found if last[0] in finding.of and len(finding.of) == 2)
    assert {Path(place.file).name for place in late.places} == {names[row[-1]], names[row[-2]]}
    assert not conflicts(write(*row, tries=1), tmp_path / "repaired")


@pytest.mark.parametrize("write", [in_compose, in_kubernetes])
@pytest.mark.parametrize(
    "row", [pytest.param(row, id="-".join(row), marks=[pytest.mark.slow] * (len(row) > 2)) for row in ROWS]
)
def test_tries_multiply_along_a_row(write: type, row: tuple[str, ...], tmp_path: Path) -> None:
    sources = write(*row, deadline=900)
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    sums = [finding.message for finding in check(tmp_path).findings if finding.code == "COH202"]
    assert len(sums) == 1
    assert f"{3 ** len(row)} times to app" in sums[0]


@pytest.mark.parametrize("write", [in_compose, in_kubernetes])
def test_a_row_that_is_printed_is_read_again(write: type) -> None:
    sources = write(*PROXIES)
    whole = importers.design_from_sources(sources)
    documents = [read for file, text in sources.items() for read in documents_of(text, file)]
    again = read_text(importers.design_yaml(documents))
    assert (again.calls, again.components, again.limits) == (whole.calls, whole.components, whole.limits)


def test_services_of_one_name_in_two_namespaces_are_two() -> None:
    both = "---\n".join(
        [*(workload("web", namespace=where) for where in ("shop", "blog")),
         *(service("web", namespace=where) for where in ("shop", "blog"))]
    )  # fmt: skip
    edge = workload("edge", mounts="edge") + "---\n" + config_map("edge", "nginx.conf", nginx("web", 80))
    assert calls({"all.yaml": f"{both}---\n{edge}"}) == ["edge_v1 -> web_v1"]
    design = importers.design_from_sources({"all.yaml": f"{both}---\n{edge}"})
    assert {"web_v1", "web_v1_blog"} <= set(design.components)
    other = edge.replace("server web:80", "server web.blog:80")
    assert calls({"all.yaml": f"{both}---\n{other}"}) == ["edge_v1 -> web_v1_blog"]
    alone = {"all.yaml": both, "nginx.conf": nginx("web", 80)}
    assert calls(alone) == ["nginx -> web"]
    assert "several have this name" in remarks(alone)


@pytest.mark.parametrize("host", ["web", "web-0.web", "web-1.web.shop", "web-0.web.shop.svc.cluster.local"])
def test_a_pod_of_a_headless_service_is_its_workload(host: str) -> None:
    objects = workload("web") + "---\n" + service("web", more="clusterIP: None, selector: {app: web}")
    edge = workload("edge", mounts="edge") + "---\n" + config_map("edge", "haproxy.cfg", haproxy(host, 80))
    assert calls({"all.yaml": f"{objects}---\n{edge}"}) == ["edge_v1 -> web_v1"]


@pytest.mark.parametrize(
    ("name", "thing"), [("api.example.com", "api_example_com"), ("web.blog.svc.cluster.local", "web_v1"),
                        ("db", "db")],
)  # fmt: skip
def test_an_external_name_is_what_it_stands_for(name: str, thing: str) -> None:
    objects = [
        workload("web", namespace="blog"), service("web", namespace="blog"), workload("db"),
        service("db", more=f"type: ExternalName, externalName: {name}"),
        workload("edge", mounts="edge"), config_map("edge", "haproxy.cfg", haproxy("db", 80)),
    ]  # fmt: skip
    assert calls({"all.yaml": "---\n".join(objects)}) == [f"edge_v1 -> {thing}"]


def test_an_address_is_that_of_a_service_or_is_listed() -> None:
    address = "selector: {app: web}, clusterIP: 10.3.0.7"
    edge = workload("edge", mounts="edge") + "---\n" + config_map("edge", "envoy.yaml", envoy("10.3.0.7", 80))
    objects = f"{workload('web')}---\n{edge}"
    assert calls({"all.yaml": f"{objects}---\n{service('web', more=address)}"}) == ["edge_v1 -> web_v1"]
    assert calls({"all.yaml": f"{objects}---\n{service('web')}"}) == ["edge_v1 -> inner"]
    assert "its servers are 10.3.0.7" in remarks({"all.yaml": f"{objects}---\n{service('web')}"})


def test_what_a_proxy_reaches_in_its_own_pod_is_not_what_another_reaches_in_its_own() -> None:
    pairs = [(workload(name, mounts=name), config_map(name, "envoy.yaml", envoy("127.0.0.1", 80))) for name in "ab"]
    assert calls({"all.yaml": "---\n".join(part for pair in pairs for part in pair)}) == [
        "a_v1 -> inner", "b_v1 -> inner_cluster_of_b_v1",
    ]  # fmt: skip


def test_a_group_of_servers_is_no_workload_that_has_its_name_by_chance() -> None:
    objects = [workload("inner-v1"), workload("edge", mounts="edge")]
    edge = config_map("edge", "nginx.conf", nginx("10.0.0.1", 80).replace("inner", "inner-v1-v1"))
    assert calls({"all.yaml": "---\n".join([*objects, edge])}) == ["edge_v1 -> inner_v1_v1_upstream_of_edge_v1"]


def test_servers_of_several_workloads_are_joined_with_none_and_listed() -> None:
    text = nginx("web", 80, tries=2).replace("server web:80", "server api:80", 1)
    objects = [*(make(name) for name in ("web", "api") for make in (workload, service)), workload("edge", mounts="e")]
    sources = {"all.yaml": "---\n".join([*objects, config_map("e", "nginx.conf", text)])}
    assert calls(sources) == ["edge_v1 -> inner"]
    assert "its servers are api, web: it is joined with no workload" in remarks(sources)


def test_a_service_of_several_workloads_is_none_of_them_and_is_listed() -> None:
    objects = [workload("web"), workload("canary", labels="web"), service("web"), workload("edge", mounts="e")]
    sources = {"all.yaml": "---\n".join([*objects, config_map("e", "nginx.conf", nginx("web", 80))])}
    assert calls(sources) == ["edge_v1 -> web"]
    assert "it selects the pods of web-v1, canary-v1" in remarks(sources)


def test_a_configuration_that_nothing_mounts_is_listed() -> None:
    sources = {"compose.yaml": "services: {app: {image: a}, nginx: {build: .}}\n", "nginx.conf": nginx("app", 80)}
    assert calls(sources) == ["nginx_nginx -> app"]
    assert "what runs nginx nginx (no workload here mounts it)" in remarks(sources)
    twice = "services: {a: {image: a, volumes: ['./nginx.conf:/x']}, b: {image: b, volumes: ['./nginx.conf:/x']}}\n"
    assert "a, b mount it: it is joined with none of them" in remarks({**sources, "compose.yaml": twice})


@pytest.mark.parametrize(
    ("mount", "caller"),
    [("./conf:/etc/nginx/conf.d", "edge"), ("{type: bind, source: ./conf, target: /etc/nginx/conf.d}", "edge"),
     ("./conf/site.conf:/any", "edge"), (".:/code", "site")],
)  # fmt: skip
def test_a_folder_counts_where_the_container_sees_it_as_that_of_the_program(mount: str, caller: str) -> None:
    stack = f"services:\n  edge:\n    image: x\n    volumes:\n      - {mount}\n  app: {{image: a}}\n"
    assert calls({"a/compose.yaml": stack, "a/conf/site.conf": nginx("app", 80)}) == [f"{caller} -> app"]


def test_names_and_files_of_compose_are_followed() -> None:
    stack = """\
services:
  edge: {image: haproxy, configs: [{source: proxy, target: /usr/local/etc/haproxy/haproxy.cfg}]}
  app: {image: a, container_name: shop-app, networks: {inner: {aliases: [store]}}}
configs:
  proxy: {file: ./proxy/haproxy.cfg}
"""
    for host in ("app", "shop-app", "store"):
        assert calls({"compose.yaml": stack, "proxy/haproxy.cfg": haproxy(host, 80)}) == ["edge -> app"]


def test_a_service_of_a_compose_file_is_no_deployment_of_the_same_name() -> None:
    sources = {"compose.yaml": "services: {app: {image: a}}\n", "app.yaml": workload("app") + "---\n" + service("app")}
    assert len(importers.design_from_sources(sources).components) == 2
    alone = {**sources, "nginx.conf": nginx("app", 80)}
    assert "several have this name" in remarks(alone)


def test_clusters_and_routes_of_one_proxy_may_stand_in_two_files() -> None:
    kind = "type.googleapis.com/envoy.config"
    hosts = "virtual_hosts: [{routes: [{route: {cluster: c}}]}]"
    routes = f"resources: [{{'@type': {kind}.route.v3.RouteConfiguration, {hosts}}}]"
    cluster = (
        f"resources: [{{'@type': {kind}.cluster.v3.Cluster, name: c, eds_cluster_config: {{service_name: NAME}}}}]"
    )
    objects = [workload("web"), service("web"), workload("edge", mounts="edge")]
    for name in ("web", "web.shop.svc.cluster.local", "outbound|80||web.shop.svc.cluster.local"):
        files = config_map("edge", "rds.yaml", routes + "\n") + f"  cds.yaml: |\n    {cluster.replace('NAME', name)}\n"
        assert calls({"all.yaml": "---\n".join([*objects, files])}) == ["edge_v1 -> web_v1"]


def test_a_route_of_a_gateway_and_a_rule_of_a_mesh_reach_the_same_workload() -> None:
    rules = "rules: [{backendRefs: [{name: web, port: 80}], timeouts: {request: 3s}}]"
    route = f"""\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: r, namespace: shop}}
spec: {{parentRefs: [{{name: edge}}], {rules}}}
"""
    mesh = """\
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: v, namespace: shop}
spec: {hosts: [web.shop.svc.cluster.local], http: [{timeout: 2s, route: [{destination: {host: web}}]}]}
"""
    sources = {"all.yaml": "---\n".join([workload("web"), service("web"), route, mesh])}
    assert sorted(calls(sources)) == ["clients -> web_v1", "edge -> web_v1"]


PROMISE = "coherence: 1\noverlays: manifests\npromises:\n  calm: attempts(app_v1) per call(envoy_v1) <= 9\n"


@pytest.mark.parametrize(("tries", "broken"), [(3, True), (2, False)])
def test_a_promise_about_all_tries_of_a_row_is_broken_or_kept(tries: int, broken: bool, tmp_path: Path) -> None:
    sources = {**in_kubernetes(*PROXIES, tries=tries, deadline=900), "facts.yaml": PROMISE}
    found = [finding for finding in conflicts(sources, tmp_path) if finding.code == "COH202"]
    assert ["27 times to app_v1" in finding.message for finding in found] == [True] * broken


@pytest.mark.parametrize(("grace", "broken"), [(20, True), (200, False)])
def test_tries_of_a_row_outlive_the_drain_of_the_next_proxy_or_do_not(grace: int, broken: bool, tmp_path: Path) -> None:
    containers = "        containers:"
    stated = f"        terminationGracePeriodSeconds: {grace}\n{containers}"
    sources = {"dump.yaml": in_kubernetes(*PROXIES, deadline=30)["dump.yaml"].replace(containers, stated)}
    found = [finding.message for finding in conflicts(sources, tmp_path) if finding.code == "COH203"]
    reached = [
        f"the tries of {a}_v1 -> {b}_v1" for a, b in (("envoy", "nginx"), ("nginx", "haproxy"), ("haproxy", "app"))
    ]
    assert [any(message.startswith(one) for message in found) for one in reached] == [broken] * 3


NGINX_SERVERS = """http {
  upstream web { server 10.0.0.%s:80 max_conns=%s; }
  server { location / { proxy_pass http://web; } }
}
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("haproxy.cfg", "defaults\n  timeout server 9s\nbackend web\n  server s 10.0.0.%s:80 maxconn %s\n"),
        ("nginx.conf", NGINX_SERVERS),
    ],
)
def test_proxies_that_nothing_mounts_are_one_for_each_file_with_servers_of_their_own(name: str, text: str) -> None:
    sources = {f"{folder}/{name}": text % (folder, 10 * int(folder)) for folder in "12"}
    ends = [end for call in calls(sources) for end in call.split(" -> ")]
    assert len(ends) == len(set(ends)) == 4
