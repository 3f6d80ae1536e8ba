"""From the bytes of a body to its text: content-encoding undone, charset found, escapes undone.

Never an exception: what cannot be read is replaced, and what follows it is dropped. Work is bounded by `BODY_LIMIT`
bytes of output, whatever was compressed.
"""

from __future__ import annotations

import codecs
import io
import re
import zlib
from collections.abc import Callable
from html import unescape
from typing import NamedTuple

import brotli
import zstandard

from .page import is_page, visible
from .record import BODY_LIMIT, Headers

MOST_ENCODINGS = 4  # applied one after the other; more is an attack
MOST_MEMBERS = 32  # of one gzip file

Unpacked = tuple[bytes, bool]  # what could be read, and whether it was whole


class Content(NamedTuple):
    """A body as text. `visible` is what a person would see of it: all of it, unless it is HTML."""

    text: str
    html: bool = False
    encoding_broken: bool = False
    title: str | None = None
    visible: str = ""


def content(body: bytes, headers: Headers) -> Content:
    """The text of a body (RFC 9110 section 8.4 for encodings; charset from header, BOM, meta, UTF-8, then GB18030)."""
    if not body:
        return Content("")
    kind = headers.get("content-type", "") or ""
    if body[:1] == b"{" and len(body) < BODY_LIMIT and _names_utf8(kind.lower()) and (text := _plain_json(body)):
        return Content(text, visible=text)
    plain, broken = decompress(body, headers)
    text = _decoded(plain, kind)
    if not is_page(text, kind):
        return Content(text, encoding_broken=broken, visible=text)
    title, seen = visible(text)
    return Content(text, True, broken, title, seen)


def _names_utf8(kind: str) -> bool:
    """Whether a content type names UTF-8, or no charset."""
    return "charset" not in kind or "utf-8" in kind


def _plain_json(body: bytes) -> str | None:
    """The body, where it is what nearly all are: an object in UTF-8."""
    if body[1:2] == b"\0":
        return None
    try:
        return cleaned(body.decode())
    except UnicodeDecodeError:
        return None


# --- content-encoding


def decompress(body: bytes, headers: Headers) -> Unpacked:
    """The body without its content-encodings, at most `BODY_LIMIT` bytes, and whether one of them was broken.

    A body that was already unpacked, or packed without saying so, is recognised by its first bytes.
    """
    named = [word.strip().lower() for value in headers.all("content-encoding") for word in value.split(",")]
    steps = [word for word in named if word in _UNPACKERS][-MOST_ENCODINGS:]
    if not steps and body[:3] == _GZIP_MAGIC:
        steps = ["gzip"]
    clipped = len(body) >= BODY_LIMIT  # cut by us: an early end is not the upstream's doing
    broken = False
    for step in reversed(steps):
        if _looks_plain(body):
            break
        body, whole = _UNPACKERS[step](body)
        broken = broken or not whole
    return body[:BODY_LIMIT], broken and not (clipped and bool(body))


_GZIP_MAGIC = b"\x1f\x8b\x08"


def _looks_plain(body: bytes) -> bool:
    return body.lstrip()[:1] in (b"{", b"[", b"<") or body.startswith((b"data:", b"event:"))


def _gunzip(body: bytes) -> Unpacked:
    """RFC 1952, several members included."""
    out = b""
    for _ in range(MOST_MEMBERS):
        member = zlib.decompressobj(wbits=31)
        try:
            out += member.decompress(body, BODY_LIMIT - len(out))
        except zlib.error:
            return (out or _salvaged(body, 31)), False
        if not member.eof or len(out) >= BODY_LIMIT:
            return out, len(out) >= BODY_LIMIT
        body = member.unused_data.lstrip(b"\0")
        if not body:
            break
    return out, True


def _inflate(body: bytes) -> Unpacked:
    """`deflate` as it should be (RFC 1950) and as it often is (RFC 1951)."""
    for wbits in (15, -15):
        stream = zlib.decompressobj(wbits=wbits)
        try:
            out = stream.decompress(body, BODY_LIMIT)
        except zlib.error:
            continue
        return out, stream.eof or len(out) >= BODY_LIMIT
    return _salvaged(body, 15) or _salvaged(body, -15), False


def _salvaged(body: bytes, wbits: int) -> bytes:
    """What comes out before the damage: fed in small pieces, because an error takes the whole call's output."""
    stream = zlib.decompressobj(wbits=wbits)
    out = b""
    for start in range(0, len(body), 64):
        try:
            out += stream.decompress(body[start : start + 64], BODY_LIMIT)
        except zlib.error:
            break
        if len(out) >= BODY_LIMIT:
            break
    return out


def _unbrotli(body: bytes) -> Unpacked:
    """RFC 7932."""
    stream = brotli.Decompressor()
    out, pending = b"", body
    try:
        while len(out) < BODY_LIMIT and not stream.is_finished():
            piece = stream.process(pending, output_buffer_limit=BODY_LIMIT)
            pending = b""
            out += piece
            if not piece:
                break
    except brotli.error:
        return out, False
    return out, stream.is_finished() or len(out) >= BODY_LIMIT


def _unzstd(body: bytes) -> Unpacked:
    """RFC 8878; windows above 8 MiB, which HTTP forbids (RFC 9659), are refused."""
    decoder = zstandard.ZstdDecompressor(max_window_size=8 * 1024 * 1024)
    out = b""
    try:
        with decoder.stream_reader(io.BytesIO(body), read_across_frames=True) as reader:
            while len(out) < BODY_LIMIT and (piece := reader.read(BODY_LIMIT - len(out))):
                out += piece
    except zstandard.ZstdError:
        return out, False
    return out, len(out) >= BODY_LIMIT or _zstd_whole(body, decoder)


def _zstd_whole(body: bytes, decoder: zstandard.ZstdDecompressor) -> bool:
    """Whether the last frame ends: the reader takes an early end for the end."""
    while body:
        frame = decoder.decompressobj()
        try:
            frame.decompress(body)
        except zstandard.ZstdError:
            return False
        if not frame.eof:
            return False
        body = frame.unused_data
    return True


_UNPACKERS: dict[str, Callable[[bytes], Unpacked]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}

# --- charset

_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE | re.ASCII)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_META_WITHIN = 1024  # bytes, as HTML requires of authors
_NOT_CHARSETS = frozenset(
    {"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "unicode-escape", "mbcs", "oem"}
)


def _decoded(data: bytes, kind: str) -> str:
    for charset in _candidates(data, kind):
        text = _strictly(data, charset)
        if text is not None:
            return cleaned(text.removeprefix("\ufeff"))
    return cleaned(_damaged(data))


def _candidates(data: bytes, kind: str) -> list[str]:
    names = []
    if named := _CHARSET.search(kind):
        names.append(named[1])
    names += [name for bom, name in _BOMS if data.startswith(bom)][:1]
    if data.lstrip()[:1] == b"<" and (meta := _CHARSET.search(data[:_META_WITHIN].decode("latin-1"))):
        names.append(meta[1])
    if data[1:2] == b"\0" and data[:1] in (b"{", b"[", b"<", b'"'):
        names.append("utf-16-le")
    elif data[:1] == b"\0" and data[1:2] in (b"{", b"[", b"<", b'"'):
        names.append("utf-16-be")
    return [*names, "utf-8"]


def _strictly(data: bytes, charset: str) -> str | None:
    """The text, when all of it is in the charset; a character cut off at the end is forgiven."""
    try:
        if codecs.lookup(charset).name in _NOT_CHARSETS:
            return None
        if charset.lower() in ("utf-8", "utf8"):
            return data.decode("utf-8")
        return data.decode(charset)
    except UnicodeDecodeError as error:
        if error.start < len(data) - 4 or "end" not in error.reason and "incomplete" not in error.reason:
            return None
        return data[: error.start].decode(charset, "replace") + "\ufffd"
    except (LookupError, ValueError):
        return None  # not a charset, or not one of texts


def _damaged(data: bytes) -> str:
    """UTF-8 with a few bytes broken, or GB18030: whichever has more that makes sense."""
    utf8 = data.decode("utf-8", "replace")
    bad = utf8.count("\ufffd")
    good = sum(character > "\x7f" for character in utf8) - bad
    if good > bad:
        return utf8
    gb18030 = _strictly(data, "gb18030")
    return utf8 if gb18030 is None else gb18030


def cleaned(text: str) -> str:
    """The text without what cannot be stored or sent: half surrogate pairs and NULs become replacement characters."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


_ESCAPES = re.compile(r"(?:\\u[0-9a-fA-F]{4})+")


def unescaped(text: str) -> str:
    r"""The text with `\u` escapes and HTML entities undone, where it has any."""
    if "\\u" in text:
        text = _ESCAPES.sub(lambda run: cleaned(run[0].encode().decode("unicode_escape")), text)
    if "&" in text:
        text = unescape(text)
    return text
