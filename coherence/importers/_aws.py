"""Everything of AWS that is modelled, of one file of resources."""

from __future__ import annotations

from coherence.importers import _aws_balancing, _aws_gateways, _aws_queues, _aws_scaling, _aws_steps
from coherence.importers._cloud import Cloud
from coherence.importers._sketch import Sketch

SPELLING = {"after": "visibility_timeout_seconds", "setpoint": "target_value"}
KINDS = {
    _aws_queues.QUEUE: "AWS::SQS::Queue",
    _aws_queues.FUNCTION: "AWS::Lambda::Function",
    _aws_queues.MAPPING: "AWS::Lambda::EventSourceMapping",
    _aws_scaling.GROUP: "AWS::AutoScaling::AutoScalingGroup",
    _aws_scaling.POLICY: "AWS::AutoScaling::ScalingPolicy",
    _aws_scaling.TARGET: "AWS::ApplicationAutoScaling::ScalableTarget",
    _aws_scaling.TARGET_POLICY: "AWS::ApplicationAutoScaling::ScalingPolicy",
    _aws_balancing.POOL: "AWS::ElasticLoadBalancingV2::TargetGroup",
    _aws_balancing.BALANCER: "AWS::ElasticLoadBalancingV2::LoadBalancer",
    _aws_balancing.LISTENERS[0]: "AWS::ElasticLoadBalancingV2::Listener",
    _aws_balancing.LISTENERS[1]: "AWS::ElasticLoadBalancingV2::ListenerRule",
    "aws_ecs_service": "AWS::ECS::Service",
    _aws_gateways.REST: "AWS::ApiGateway::Method",
    _aws_gateways.HTTP: "AWS::ApiGatewayV2::Integration",
    _aws_steps.ALARM: "AWS::CloudWatch::Alarm",
}  # kind of resource: in a plan, in a template


def add_resources(cloud: Cloud, sketch: Sketch) -> None:
    """Adds the functions and groups first: others are about them."""
    things: dict[str, str] = {}
    _aws_queues.functions(cloud, things, sketch)
    _aws_scaling.groups(cloud, things, sketch)
    _aws_balancing.pools(cloud, things, sketch)
    _aws_queues.queues(cloud, things, sketch)
    _aws_scaling.policies(cloud, things, sketch)
    _aws_gateways.integrations(cloud, things, sketch)
    _aws_balancing.balancers(cloud, things, sketch)
