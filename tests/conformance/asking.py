"""The fixtures of the conformance suite that ask the client something before they answer (SEP-2322, 2026-07-28).

Names, questions and words are the suite's; what each must do stands in the description of its scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.shared.exceptions import MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    ClientCapabilities,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    MissingRequiredClientCapabilityErrorData,
    SamplingCapability,
    SamplingMessage,
    TextContent,
)

Ctx = Context[Any, Any]
TextOrQuestion = str | InputRequiredResult


def form(message: str, **properties: str) -> ElicitRequest:
    """Ask a person for fields, each with its JSON type."""
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def prompt(text: str, max_tokens: int) -> CreateMessageRequest:
    """Ask the client's model."""
    message = SamplingMessage(role="user", content=TextContent(text=text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=max_tokens))


def ask(state: str | None = None, **questions: InputRequest) -> InputRequiredResult:
    return InputRequiredResult(input_requests=questions, request_state=state)


def field(ctx: Ctx, question: str, name: str) -> str | None:
    """What a person filled in; None when they were not asked yet or did not accept."""
    answer = (ctx.input_responses or {}).get(question)
    if not isinstance(answer, ElicitResult) or answer.action != "accept":
        return None
    return str((answer.content or {}).get(name))


def test_input_required_result_elicitation(ctx: Ctx) -> TextOrQuestion:
    """Ask for a name."""
    name = field(ctx, "user_name", "name")
    return ask(user_name=form("What is your name?", name="string")) if name is None else f"Hello, {name}!"


def test_input_required_result_sampling(ctx: Ctx) -> TextOrQuestion:
    """Ask the client's model for a capital."""
    answer = (ctx.input_responses or {}).get("capital_question")
    if not isinstance(answer, CreateMessageResult):
        return ask(capital_question=prompt("What is the capital of France?", 100))
    return str(getattr(answer.content, "text", ""))


def test_input_required_result_list_roots(ctx: Ctx) -> TextOrQuestion:
    """Ask for the client's roots."""
    answer = (ctx.input_responses or {}).get("client_roots")
    if not isinstance(answer, ListRootsResult):
        return ask(client_roots=ListRootsRequest())
    return f"Roots: {[str(root.uri) for root in answer.roots]}"


def test_input_required_result_request_state(ctx: Ctx) -> TextOrQuestion:
    """Ask for a confirmation, and know what it belongs to."""
    if ctx.request_state != "confirming" or field(ctx, "confirm", "ok") is None:
        return ask("confirming", confirm=form("Please confirm", ok="boolean"))
    return "state-ok"


def test_input_required_result_multiple_inputs(ctx: Ctx) -> TextOrQuestion:
    """Ask for three things at once."""
    questions: dict[str, InputRequest] = {
        "user_name": form("What is your name?", name="string"),
        "greeting": prompt("Generate a greeting", 50),
        "client_roots": ListRootsRequest(),
    }
    if questions.keys() <= (ctx.input_responses or {}).keys():
        return "All three were answered."
    return ask("three", **questions)


def test_input_required_result_multi_round(ctx: Ctx) -> TextOrQuestion:
    """Ask twice, one after the other."""
    if ctx.request_state == "asked the second" and (colour := field(ctx, "step2", "color")) is not None:
        return f"Done: {colour}"
    if ctx.request_state == "asked the first" and field(ctx, "step1", "name") is not None:
        return ask("asked the second", step2=form("Step 2: What is your favorite color?", color="string"))
    return ask("asked the first", step1=form("Step 1: What is your name?", name="string"))


def test_input_required_result_tampered_state(ctx: Ctx) -> TextOrQuestion:
    """Ask once; a state that somebody changed does not get as far as here."""
    if ctx.request_state is None:
        return ask("untouched", confirm=form("Please confirm", ok="boolean"))
    return "state-ok"


def test_input_required_result_capabilities(ctx: Ctx) -> TextOrQuestion:
    """Ask only what the client says it can be asked."""
    able = ctx.client_capabilities
    questions: dict[str, InputRequest] = {}
    if able is not None and able.sampling is not None:
        questions["sample"] = prompt("Say something", 50)
    if able is not None and able.elicitation is not None:
        questions["name"] = form("What is your name?", name="string")
    return ask(None, **questions) if questions and ctx.input_responses is None else "Nothing more to ask."


def test_missing_capability(ctx: Ctx) -> TextOrQuestion:
    """Need a model at the client's, which it must have said that it has."""
    able = ctx.client_capabilities
    if able is None or able.sampling is None:
        needed = MissingRequiredClientCapabilityErrorData(
            required_capabilities=ClientCapabilities(sampling=SamplingCapability())
        )
        data = needed.model_dump(by_alias=True, exclude_none=True)
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "This needs sampling.", data)
    return "The client can be asked."


def test_streaming_elicitation(ctx: Ctx) -> TextOrQuestion:
    """Ask, without a request of the server's own on the stream."""
    value = field(ctx, "value", "value")
    return ask(value=form("Give a value", value="string")) if value is None else value


def test_input_required_result_prompt(ctx: Ctx) -> list[UserMessage] | InputRequiredResult:
    """A prompt that asks for its context."""
    context = field(ctx, "user_context", "context")
    if context is None:
        return ask(user_context=form("What context should the prompt use?", context="string"))
    return [UserMessage(role="user", content=TextContent(text=f"Context: {context}"))]


TOOLS: Final[Sequence[Callable[..., object]]] = (
    test_input_required_result_elicitation,
    test_input_required_result_sampling,
    test_input_required_result_list_roots,
    test_input_required_result_request_state,
    test_input_required_result_multiple_inputs,
    test_input_required_result_multi_round,
    test_input_required_result_tampered_state,
    test_input_required_result_capabilities,
    test_missing_capability,
    test_streaming_elicitation,
)
