"""Every path a request can take, and every kind of fault, as data. `test_matrix` sends each fault down each path."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.faults.upstream import CLOSE, RESET, Answer, Part, Pause, event

SSE = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}


@dataclass(frozen=True)
class Path:
    """An endpoint in a wire, streamed or not. `content` are the events of an answer, up to its first words."""

    name: str
    wire: str
    url: str  # {} is the model, where it stands in the address
    answer: bytes
    stream: bool = False
    head: tuple[bytes, ...] = ()
    content: tuple[bytes, ...] = ()
    tail: tuple[bytes, ...] = ()
    billed: bool = False  # not sent again after a timeout

    def __str__(self) -> str:
        return f"{self.name}{'-stream' if self.stream else ''}"

    def request(self, model: str) -> dict[str, Any]:
        body: dict[str, Any] = (
            {"contents": []} if self.wire == "gemini" else {"model": model, "input": "hi", "prompt": "hi"}
        )
        return body | ({"stream": True} if self.stream and self.wire != "gemini" else {})

    @property
    def good(self) -> Answer:
        if self.stream:
            return Answer(body=[*self.head, *self.content, *self.tail], headers=SSE)
        return Answer(body=self.answer, headers=JSON)


def named(kind: str, **data: Any) -> bytes:
    """An event with a name, as Anthropic and Responses send it."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


def _chunk(**delta: Any) -> bytes:
    finish = delta.pop("finish", None)
    return event(
        {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    )


def _document(**data: Any) -> bytes:
    return json.dumps(data).encode()


def _candidate(text: str, **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, **more}]}


_RESPONSE = {"id": "r", "object": "response", "status": "in_progress", "error": None, "output": []}
_MESSAGE = {"id": "m", "type": "message", "role": "assistant", "content": [], "stop_reason": None, "usage": {}}
_DONE = b"data: [DONE]\n\n"

PATHS = (
    Path(
        "chat",
        "openai",
        "/v1/chat/completions",
        _document(choices=[{"message": {"content": "hi"}, "finish_reason": "stop"}]),
    ),
    Path("completions", "openai", "/v1/completions", _document(choices=[{"text": "hi", "finish_reason": "stop"}])),
    Path("embeddings", "openai", "/v1/embeddings", _document(object="list", data=[{"embedding": [0.5]}])),
    Path(
        "responses",
        "openai",
        "/v1/responses",
        _document(**{**_RESPONSE, "status": "completed", "output": [{"type": "message"}]}),
    ),
    Path("rerank", "openai", "/v1/rerank", _document(results=[{"index": 0, "relevance_score": 0.5}])),
    Path("images", "openai", "/v1/images/generations", _document(created=1, data=[{"url": "x"}]), billed=True),
    Path("audio", "openai", "/v1/audio/speech", _document(data=[{"x": 1}]), billed=True),
    Path(
        "messages", "anthropic", "/v1/messages", _document(**{**_MESSAGE, "content": [{"type": "text", "text": "hi"}]})
    ),
    Path("count_tokens", "anthropic", "/v1/messages/count_tokens", _document(input_tokens=3)),
    Path("generate", "gemini", "/v1beta/models/{}:generateContent", _document(**_candidate("hi", finishReason="STOP"))),
    Path(
        *("chat", "openai", "/v1/chat/completions", b"", True),
        head=(_chunk(role="assistant", content=""),),
        content=(_chunk(content="hi"),),
        tail=(_chunk(finish="stop"), _DONE),
    ),
    Path(
        *("completions", "openai", "/v1/completions", b"", True),
        content=(event({"choices": [{"text": "hi", "index": 0, "finish_reason": None}]}),),
        tail=(event({"choices": [{"text": "", "index": 0, "finish_reason": "stop"}]}), _DONE),
    ),
    Path(
        *("responses", "openai", "/v1/responses", b"", True),
        head=(named("response.created", response=_RESPONSE),),
        content=(named("response.output_text.delta", delta="hi", item_id="i", output_index=0, content_index=0),),
        tail=(named("response.completed", response={**_RESPONSE, "status": "completed"}),),
    ),
    Path(
        *("messages", "anthropic", "/v1/messages", b"", True),
        head=(
            named("message_start", message=_MESSAGE),
            named("content_block_start", index=0, content_block={"type": "text", "text": ""}),
        ),
        content=(named("content_block_delta", index=0, delta={"type": "text_delta", "text": "hi"}),),
        tail=(
            named("content_block_stop", index=0),
            named("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 1}),
            named("message_stop"),
        ),
    ),
    Path(
        *("generate", "gemini", "/v1beta/models/{}:streamGenerateContent?alt=sse", b"", True),
        content=(event(_candidate("hi")),),
        tail=(event(_candidate("", finishReason="STOP")),),
    ),
)


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong, and what it is, whatever the path. `committed`: the client has seen the beginning."""

    name: str
    reason: str
    scope: str
    rule: str
    answer: Callable[[Path], Answer | None]  # None: nobody listens
    streams: bool = True
    documents: bool = True
    committed: bool = False

    def __str__(self) -> str:
        return self.name


QUOTA = "用户额度不足"
MONEY = {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota"}
GONE = ("network_error", "host")


def _error(path: Path, **fields: Any) -> dict[str, Any]:
    """An error object as the path's wire has it."""
    return {"type": "error", "error": fields} if path.wire == "anthropic" else {"error": fields}


def _refusal(path: Path, encode: Callable[[dict[str, Any]], bytes], content_type: str = "application/json") -> Answer:
    return Answer(403, encode(_error(path, message=QUOTA, type="new_api_error")), {"content-type": content_type})


def _events(path: Path, *parts: Part) -> Answer:
    return Answer(body=parts, headers=SSE)


def _failing(path: Path) -> bytes:
    if path.wire == "anthropic":
        return named("error", error=MONEY)
    return named("error", error=MONEY) if path.name == "responses" else event({"error": MONEY})


def _cut(path: Path) -> Answer:
    """An answer whose connection breaks in the middle, before there is anything to show."""
    if path.stream:
        return _events(path, *path.head, b"data: {", RESET)
    return Answer(body=[path.answer[:9], RESET], headers=JSON)


CDN = b"<!DOCTYPE html><html><head><title>503 Service Temporarily Unavailable</title></head><body>edge</body></html>"

FAULTS = (
    Fault(
        *("misreported", "quota_exhausted", "connection", "quota-exhausted"),
        lambda path: _refusal(path, lambda data: json.dumps(data, ensure_ascii=False).encode()),
    ),
    Fault(
        *("escaped", "quota_exhausted", "connection", "quota-exhausted"),
        lambda path: _refusal(path, lambda data: json.dumps(data).encode()),
    ),
    Fault(
        *("gbk", "quota_exhausted", "connection", "quota-exhausted"),
        lambda path: _refusal(path, lambda data: json.dumps(data, ensure_ascii=False).encode("gbk"), "text/plain"),
    ),
    Fault(
        *("error in a 200", "credits_exhausted", "connection", "out-of-credit"),
        lambda path: Answer(200, json.dumps(_error(path, **MONEY)).encode(), JSON),
    ),
    Fault(
        *("error first", "credits_exhausted", "connection", "out-of-credit"),
        lambda path: _events(path, *path.head, _failing(path)),
        documents=False,
    ),
    Fault(
        *("error later", "credits_exhausted", "connection", "out-of-credit"),
        lambda path: _events(path, *path.head, *path.content, _failing(path)),
        documents=False,
        committed=True,
    ),
    Fault("refused", *GONE, "default-refused", lambda path: None),
    Fault("reset", *GONE, "default-reset", lambda path: Answer(before=[RESET])),
    Fault("cut", *GONE, "", _cut),
    Fault(
        *("cut later", *GONE, ""),
        lambda path: _events(path, *path.head, *path.content, CLOSE),
        documents=False,
        committed=True,
    ),
    Fault("stall", "timeout", "provider", "default-first_byte_timeout", lambda path: Answer(before=[Pause()])),
    Fault(
        *("bad gzip", "server_error", "provider", "default-bad_encoding"),
        lambda path: Answer(200, gzip.compress(b"{}" * 99)[:20] + b"\xff" * 50, {**JSON, "content-encoding": "gzip"}),
    ),
    Fault(
        *("page of a CDN", "overloaded", "provider", "default-503"),
        lambda path: Answer(503, CDN, {"content-type": "text/html"}),
    ),
)
PLACES = ("alone", "first", "second")  # of the failing target among those of its combo


@dataclass(frozen=True)
class Case:
    """One fault at one place of one path."""

    number: int
    path: Path
    fault: Fault
    place: str

    def __str__(self) -> str:
        return f"{self.path} {self.fault} {self.place}"

    @property
    def provider(self) -> str:
        """One of its own, so that no case finds what another has closed."""
        return f"p{self.number}"

    @property
    def combo(self) -> str:
        return f"c{self.number}"

    @property
    def falls_back(self) -> bool:
        """Whether a target behind the failing one answers."""
        billed = self.path.billed and self.fault.reason == "timeout"
        return self.place != "alone" and not self.fault.committed and not billed


def cases() -> Iterator[Case]:
    number = 0
    for path in PATHS:
        for fault in FAULTS:
            if not (fault.streams if path.stream else fault.documents):
                continue
            for place in PLACES:
                number += 1
                yield Case(number, path, fault, place)
