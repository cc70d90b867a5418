"""The HTTP API for agents in any language: submit tool calls or interrupts, wait, run what people approved.

Public face: `routes.add_api`, `agent_api.AgentApi`, `policies.Policies`. The wire format is in `wire`.
"""
