"""The yardstick: what FastAPI and httpx do by themselves. Forwards one path, knows no failure, writes no log."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse

HEADERS = {"content-type": "application/json", "authorization": "Bearer x"}


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """One client for all requests, with room for as many connections as requests at a time."""
    limits = httpx.Limits(max_connections=512, max_keepalive_connections=100)
    async with httpx.AsyncClient(base_url=os.environ["ORIGIN"], limits=limits, timeout=60, trust_env=False) as client:
        app.state.client = client
        yield


app = FastAPI(lifespan=lifespan)


@app.post("/v1/chat/completions")
async def chat(request: Request) -> Response:
    """Forward one request."""
    body = await request.body()
    client: httpx.AsyncClient = request.app.state.client
    sent = client.build_request("POST", "/v1/chat/completions", content=body, headers=HEADERS)
    answer = await client.send(sent, stream=bool(json.loads(body).get("stream")))
    kind = answer.headers.get("content-type")
    if answer.is_stream_consumed:
        return Response(answer.content, answer.status_code, media_type=kind)
    return StreamingResponse(_events(answer), answer.status_code, media_type=kind)


async def _events(answer: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for chunk in answer.aiter_bytes():
            yield chunk
    finally:
        await answer.aclose()
