"""Which protobuf field of an AG-UI 1.0 event is which: numbers in, the names the JSON form uses out.

Read from @ag-ui/proto 1.0.0 (MIT), decoded there by generated code; here it is a table a small reader walks.
A field is (name, kind) or (name, kind, "many"); a kind is str, int, bool, value, struct, or a message of the table.
"""

from __future__ import annotations

Field = tuple[str, str] | tuple[str, str, str]

_OWNER = ("subagentRunId", "str")


def _event(**fields: Field) -> dict[int, Field]:
    """Fields written ``f2=("toolCallId", "str")``; every event has its base in field 1."""
    return {1: ("baseEvent", "BaseEvent"), **{int(number[1:]): field for number, field in fields.items()}}


# Field number of the envelope's one populated arm -> the event's type and its fields.
ARMS: dict[int, tuple[str, dict[int, Field]]] = {
    1: ("TEXT_MESSAGE_START", _event(f2=("messageId", "str"), f3=("role", "str"), f4=("name", "str"), f5=_OWNER)),
    2: ("TEXT_MESSAGE_CONTENT", _event(f2=("messageId", "str"), f3=("delta", "str"), f4=_OWNER)),
    3: ("TEXT_MESSAGE_END", _event(f2=("messageId", "str"), f3=_OWNER)),
    4: (
        "TOOL_CALL_START",
        _event(f2=("toolCallId", "str"), f3=("toolCallName", "str"), f4=("parentMessageId", "str"), f5=_OWNER),
    ),
    5: ("TOOL_CALL_ARGS", _event(f2=("toolCallId", "str"), f3=("delta", "str"), f4=_OWNER)),
    6: ("TOOL_CALL_END", _event(f2=("toolCallId", "str"), f3=_OWNER)),
    7: ("STATE_SNAPSHOT", _event(f3=_OWNER)),
    8: ("STATE_DELTA", _event(f3=_OWNER)),
    9: ("MESSAGES_SNAPSHOT", _event(f2=("messages", "Message", "many"))),
    10: ("RAW", _event(f3=("source", "str"), f4=_OWNER)),
    11: ("CUSTOM", _event(f2=("name", "str"), f3=("value", "value"), f4=_OWNER)),
    12: (
        "RUN_STARTED",
        _event(
            f2=("threadId", "str"),
            f3=("runId", "str"),
            f4=("parentRunId", "str"),
            f5=("input", "RunAgentInput"),
            f6=("protocolVersion", "str"),
        ),
    ),
    13: (
        "RUN_FINISHED",
        _event(
            f2=("threadId", "str"),
            f3=("runId", "str"),
            f4=("result", "value"),
            f5=("outcome", "str"),
            f6=("interrupts", "Interrupt", "many"),
            f7=("usage", "Usage", "many"),
            f8=("pendingToolCallIds", "str", "many"),
        ),
    ),
    14: ("RUN_ERROR", _event(f2=("code", "str"), f3=("message", "str"), f4=("usage", "Usage", "many"))),
    15: ("STEP_STARTED", _event(f2=("stepName", "str"), f3=_OWNER)),
    16: ("STEP_FINISHED", _event(f2=("stepName", "str"), f3=_OWNER)),
    17: (
        "TEXT_MESSAGE_CHUNK",
        _event(f2=("messageId", "str"), f3=("role", "str"), f4=("delta", "str"), f5=("name", "str"), f6=_OWNER),
    ),
    18: (
        "TOOL_CALL_CHUNK",
        _event(
            f2=("toolCallId", "str"),
            f3=("toolCallName", "str"),
            f4=("parentMessageId", "str"),
            f5=("delta", "str"),
            f6=_OWNER,
        ),
    ),
    19: (
        "SUBAGENT_STARTED",
        _event(
            f2=_OWNER,
            f3=("name", "str"),
            f4=("description", "str"),
            f5=("parentSubagentRunId", "str"),
            f6=("parentToolCallId", "str"),
            f7=("parentMessageId", "str"),
        ),
    ),
    20: ("SUBAGENT_FINISHED", _event(f2=_OWNER, f4=("outcome", "str"), f5=("interruptIds", "str", "many"))),
    21: ("SUBAGENT_ERROR", _event(f2=_OWNER, f3=("message", "str"), f4=("code", "str"))),
    22: (
        "TOOL_CALL_RESULT",
        _event(
            f2=_OWNER,
            f3=("messageId", "str"),
            f4=("toolCallId", "str"),
            f5=("content", "str"),
            f6=("role", "str"),
            f7=("contentParts", "InputContent", "many"),
        ),
    ),
    23: ("ACTIVITY_SNAPSHOT", _event(f2=_OWNER)),
    24: ("ACTIVITY_DELTA", _event(f2=_OWNER)),
    25: ("REASONING_START", _event(f2=_OWNER, f3=("messageId", "str"))),
    26: ("REASONING_MESSAGE_START", _event(f2=_OWNER, f3=("messageId", "str"))),
    27: ("REASONING_MESSAGE_CONTENT", _event(f2=_OWNER, f3=("messageId", "str"))),
    28: ("REASONING_MESSAGE_END", _event(f2=_OWNER, f3=("messageId", "str"))),
    29: ("REASONING_MESSAGE_CHUNK", _event(f2=_OWNER, f3=("messageId", "str"))),
    30: ("REASONING_END", _event(f2=_OWNER, f3=("messageId", "str"))),
    31: ("REASONING_ENCRYPTED_VALUE", _event(f2=_OWNER)),
}

_MEDIA: dict[int, Field] = {1: ("source", "InputContentSource"), 3: ("id", "str")}
_SOURCE: dict[int, Field] = {1: ("value", "str"), 2: ("mimeType", "str")}

MESSAGES: dict[str, dict[int, Field]] = {
    "BaseEvent": {2: ("timestamp", "int"), 4: ("metadata", "struct")},  # raw_event (3) only repeats: not read
    "Usage": {
        1: ("provider", "str"),
        2: ("model", "str"),
        3: ("inputTokens", "int"),
        4: ("outputTokens", "int"),
        5: ("totalTokens", "int"),
        6: ("reasoningTokens", "int"),
        7: ("cachedInputTokens", "int"),
        8: ("cacheWriteInputTokens", "int"),
    },
    "InputContent": {
        1: ("text", "TextInputPart"),
        2: ("image", "Media"),
        3: ("audio", "Media"),
        4: ("video", "Media"),
        5: ("document", "Media"),
    },
    "TextInputPart": {1: ("text", "str"), 2: ("id", "str")},
    "Media": _MEDIA,
    "InputContentSource": {1: ("data", "Source"), 2: ("url", "Source"), 3: ("file", "FileSource")},
    "Source": _SOURCE,
    "FileSource": {1: ("value", "str"), 2: ("provider", "str"), 3: ("mimeType", "str")},
    "ToolCall": {1: ("id", "str"), 2: ("type", "str"), 3: ("function", "Function")},
    "Function": {1: ("name", "str"), 2: ("arguments", "str")},
    "Message": {
        1: ("id", "str"),
        2: ("role", "str"),
        3: ("content", "str"),
        4: ("name", "str"),
        5: ("toolCalls", "ToolCall", "many"),
        6: ("toolCallId", "str"),
        7: ("error", "str"),
        8: ("contentParts", "InputContent", "many"),
        10: _OWNER,
    },
    "Tool": {1: ("name", "str"), 2: ("description", "str"), 3: ("parameters", "value")},
    "RunAgentInput": {1: ("threadId", "str"), 2: ("runId", "str"), 6: ("tools", "Tool", "many")},
    "Interrupt": {
        1: ("id", "str"),
        2: ("reason", "str"),
        3: ("message", "str"),
        4: ("toolCallId", "str"),
        5: ("responseSchema", "value"),
        6: ("expiresAt", "str"),
        8: _OWNER,
    },
}

# Messages that are one-of: the populated member's name becomes ``type``, its own fields stay beside it.
ONE_OF = frozenset({"InputContent", "InputContentSource"})

# proto3 leaves an empty string out; for these the JSON form always has the key.
DEFAULTS: dict[str, dict[str, str]] = {
    "TOOL_CALL_START": {"toolCallId": "", "toolCallName": ""},
    "TOOL_CALL_ARGS": {"toolCallId": "", "delta": ""},
    "TOOL_CALL_END": {"toolCallId": ""},
    "TOOL_CALL_RESULT": {"toolCallId": "", "messageId": ""},
    "Function": {"name": "", "arguments": ""},
    "TextInputPart": {"text": ""},
    "Source": {"value": ""},
}
