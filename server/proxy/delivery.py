"""From an opened answer to the client: the commit point, the bytes after it, and a proper end whatever happens."""

from __future__ import annotations

from dataclasses import dataclass

from faultwise.engine.verdict.verdict import Verdict

from . import answers
from .attempt import Opened
from .client import Client
from .deadline import Late
from .headers import down, first
from .kinds import FAILURES, kind
from .outcome import of_attempt
from .relay import Relay
from .stream import Tail
from .telling import tell

# Where a stream that ends without its terminator was cut short. Others are not known well enough to say so.
TERMINATED = frozenset(("chat", "completions", "responses", "messages", "generate"))


@dataclass(slots=True)
class Sent:
    """What reached the client. `verdict`: of a failure after the commit point."""

    status: int
    size: int = 0
    verdict: Verdict | None = None


async def deliver(opened: Opened, relay: Relay, client: Client) -> Sent:
    """Pass an answer on and enter its end into the state, once. Raises `Stuck` where the client does not read it."""
    attempt = opened.attempt
    answer = attempt.answer
    assert answer is not None, "an opened answer has one"
    sent = Sent(200 if client.started else answer.status)
    headers = down(attempt.headers, attempt.target.connection.hidden)
    headers += answers.headers(relay.call.id, relay.ledger.dispatched, attempt.target.label)
    if opened.whole:
        headers.append((b"content-length", str(len(opened.held)).encode()))
    elif opened.head is None and (length := first(answer.headers, b"content-length")):
        headers.append((b"content-length", length.encode("latin-1")))
    wrapped = client.started and opened.head is None
    await client.start(answer.status, headers)
    if wrapped:
        if not await _wrapped(opened, relay, client, sent):
            return sent
    elif opened.whole:
        await client.end(opened.held)
        sent.size = len(opened.held)
    elif opened.head is not None:
        await _stream(opened, relay, client, sent)
    elif not await _document(opened, relay, client, sent):
        return sent  # unfinished: the server then cuts the connection, which is what tells the client
    if sent.verdict is None:
        relay.succeeded(attempt)
    return sent


async def _document(opened: Opened, relay: Relay, client: Client, sent: Sent) -> bool:
    """The rest of an answer that is no stream; whether it came whole."""
    chunk = opened.held
    try:
        while True:
            if chunk:
                await client.piece(chunk)
                sent.size += len(chunk)
            chunk = await opened.attempt.chunk()
            if not chunk:
                break
    except Late as late:
        await _failed(opened, relay, sent, late.kind)
        return False
    except FAILURES as error:
        await _failed(opened, relay, sent, kind(error))
        return False
    await client.end()
    return True


async def _wrapped(opened: Opened, relay: Relay, client: Client, sent: Sent) -> bool:
    """An answer that is no stream, for a client to whom a stream has begun: one event; whether it came whole."""
    attempt = opened.attempt
    piece, first_piece = opened.held, True
    try:
        while piece or first_piece:
            lines = piece.replace(b"\r", b"").replace(b"\n", b"\ndata: ")
            await client.piece(b"data: " + lines if first_piece else lines)
            sent.size += len(piece)
            piece, first_piece = b"" if opened.whole else await attempt.chunk(), False
    except Late as late:
        await _failed(opened, relay, sent, late.kind)
        return False
    except FAILURES as error:
        await _failed(opened, relay, sent, kind(error))
        return False
    await client.end(b"\n\n" + answers.terminator(relay.call.endpoint))
    return True


async def _stream(opened: Opened, relay: Relay, client: Client, sent: Sent) -> None:
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
                await client.piece(piece)
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
        await _failed(opened, relay, sent, None, tail.error)
    elif trouble is not None and not tail.finished:
        # once everything has come, it does not matter how the connection ends
        await _failed(opened, relay, sent, trouble)
    if sent.verdict is None:
        await client.end()
        return
    outcome = of_attempt(relay.ledger.attempted[-1])
    retryable = sent.verdict.fallback or sent.verdict.temporary
    told = tell(relay.active.policy, relay.call.endpoint, relay.call.headers, outcome, relay.ledger)
    event = answers.event(relay.call.endpoint, outcome, retryable, sent.size, relay.call.id, told)
    if not last.endswith((b"\n", b"\r")):
        event = b"\n\n" + event  # the event that was sent last lacks its blank line
    await client.end(event)


async def _failed(opened: Opened, relay: Relay, sent: Sent, trouble: str | None, event: bytes = b"") -> None:
    decision = opened.attempt.judge("stream" if trouble is None else "transport", kind=trouble, body=event)
    if decision.verdict.failed:
        await relay.failed(opened.attempt, decision)
        sent.verdict = decision.verdict
