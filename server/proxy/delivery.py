"""From an opened answer to the client: the commit point, the bytes after it, and a proper end whatever happens."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import Send

from faultwise.engine.verdict.verdict import Verdict

from . import answers
from .attempt import Opened
from .deadline import Late
from .headers import down, first
from .kinds import FAILURES, kind
from .outcome import of_attempt
from .relay import Relay
from .stream import Tail

# Where a stream that ends without its terminator was cut short. Others are not known well enough to say so.
TERMINATED = frozenset(("chat", "completions", "responses", "messages", "generate"))


@dataclass(slots=True)
class Sent:
    """What reached the client. `verdict`: of a failure after the commit point."""

    status: int
    size: int = 0
    verdict: Verdict | None = None


async def deliver(opened: Opened, relay: Relay, send: Send) -> Sent:
    """Pass an answer on and enter its end into the state, once."""
    attempt = opened.attempt
    answer = attempt.answer
    assert answer is not None, "an opened answer has one"
    sent = Sent(answer.status)
    headers = down(attempt.headers)
    headers += answers.headers(relay.call.id, relay.ledger.dispatched, attempt.target.label)
    if opened.whole:
        headers.append((b"content-length", str(len(opened.held)).encode()))
    elif opened.head is None and (length := first(answer.headers, b"content-length")):
        headers.append((b"content-length", length.encode("latin-1")))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    if opened.whole:
        await send({"type": "http.response.body", "body": opened.held})
        sent.size = len(opened.held)
    elif opened.head is not None:
        await _stream(opened, relay, send, sent)
    elif not await _document(opened, relay, send, sent):
        return sent  # unfinished: the server then cuts the connection, which is what tells the client
    if sent.verdict is None:
        relay.succeeded(attempt)
    return sent


async def _document(opened: Opened, relay: Relay, send: Send, sent: Sent) -> bool:
    """The rest of an answer that is no stream; whether it came whole."""
    chunk = opened.held
    try:
        while True:
            if chunk:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
                sent.size += len(chunk)
            chunk = await opened.attempt.chunk()
            if not chunk:
                break
    except Late as late:
        _failed(opened, relay, sent, late.kind)
        return False
    except FAILURES as error:
        _failed(opened, relay, sent, kind(error))
        return False
    await send({"type": "http.response.body", "body": b""})
    return True


async def _stream(opened: Opened, relay: Relay, send: Send, sent: Sent) -> None:
    """The events after the commit point, exactly as they come; an error event of ours where they break off."""
    assert opened.head is not None, "called for streams only"
    tail = Tail(opened.head)
    trouble = None
    piece, ended = opened.held + tail.begin(), False
    last = piece
    try:
        while True:
            if piece:
                last = piece
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                sent.size += len(piece)
            if tail.error or ended:
                break
            chunk = await opened.attempt.chunk()
            ended = not chunk
            piece = tail.end() if ended else tail.feed(chunk)
    except Late as late:
        trouble = late.kind
    except FAILURES as error:
        trouble = kind(error)
    if ended and not tail.finished and relay.call.endpoint.name in TERMINATED:
        trouble = "truncated"
    if tail.error:
        _failed(opened, relay, sent, None, tail.error)
    elif trouble is not None and not tail.finished:
        # once everything has come, it does not matter how the connection ends
        _failed(opened, relay, sent, trouble)
    if sent.verdict is None:
        await send({"type": "http.response.body", "body": b""})
        return
    outcome = of_attempt(relay.ledger.attempted[-1])
    retryable = sent.verdict.fallback or sent.verdict.temporary
    event = answers.event(relay.call.endpoint, outcome, retryable, sent.size, relay.call.id)
    if not last.endswith((b"\n", b"\r")):
        event = b"\n\n" + event  # the event that was sent last lacks its blank line
    await send({"type": "http.response.body", "body": event})


def _failed(opened: Opened, relay: Relay, sent: Sent, trouble: str | None, event: bytes = b"") -> None:
    decision = opened.attempt.judge("stream" if trouble is None else "transport", kind=trouble, body=event)
    if decision.verdict.failed:
        relay.failed(opened.attempt, decision)
        sent.verdict = decision.verdict
