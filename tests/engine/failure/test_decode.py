"""Bytes of a body to text."""

from __future__ import annotations

import gzip
import zlib
from random import Random

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from faultwise.engine.failure.decode import Content, cleaned, content, unescaped
from faultwise.engine.failure.record import BODY_LIMIT, Headers

TEXT = '{"error": {"message": "额度不足, quota exhausted"}}'
BODY = TEXT.encode()
PACKERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}


def decoded(body: bytes, **headers: str) -> Content:
    return content(body, Headers({name.replace("_", "-"): value for name, value in headers.items()}))


@pytest.mark.parametrize("encoding", PACKERS)
def test_every_content_encoding_is_undone(encoding: str) -> None:
    assert decoded(PACKERS[encoding](BODY), content_encoding=encoding) == Content(TEXT, visible=TEXT)


def test_a_raw_deflate_stream_is_undone() -> None:
    packer = zlib.compressobj(wbits=-15)
    assert decoded(packer.compress(BODY) + packer.flush(), content_encoding="deflate").text == TEXT


def test_several_encodings_are_undone_in_reverse_order() -> None:
    assert decoded(brotli.compress(gzip.compress(BODY)), content_encoding="gzip, br").text == TEXT


def test_several_gzip_members_are_one_body() -> None:
    assert decoded(gzip.compress(BODY[:10]) + gzip.compress(BODY[10:]), content_encoding="gzip").text == TEXT


@pytest.mark.parametrize("encoding", PACKERS)
@pytest.mark.parametrize("damage", [lambda packed: packed[:-6], lambda packed: packed[:-9] + bytes(9)])
def test_a_broken_encoding_is_told_and_what_could_be_read_is_kept(encoding: str, damage) -> None:
    noise = bytes(range(256)).hex()
    text = "".join(noise[number * 7 % 500 :] for number in range(80))
    found = decoded(damage(PACKERS[encoding](text.encode())), content_encoding=encoding)
    assert found.encoding_broken
    assert text.startswith(found.text[:100].rstrip("\ufffd"))


@pytest.mark.parametrize("encoding", PACKERS)
def test_garbage_in_an_encoding_is_broken_and_empty(encoding: str) -> None:
    assert decoded(b"\x99\x98\x97 no such thing", content_encoding=encoding).encoding_broken


@pytest.mark.parametrize("encoding", PACKERS)
def test_a_bomb_gives_no_more_than_the_limit(encoding: str) -> None:
    found = decoded(PACKERS[encoding](b"a" * 5_000_000), content_encoding=encoding)
    assert found == Content("a" * BODY_LIMIT, visible="a" * BODY_LIMIT)


def test_a_body_cut_at_the_limit_is_not_broken() -> None:
    packed = gzip.compress(Random(1).randbytes(90_000))
    assert not decoded(packed[:BODY_LIMIT], content_encoding="gzip").encoding_broken


def test_an_encoding_that_was_undone_on_the_way_is_ignored() -> None:
    assert decoded(BODY, content_encoding="gzip") == Content(TEXT, visible=TEXT)


def test_gzip_that_was_not_announced_is_undone() -> None:
    assert decoded(gzip.compress(BODY)).text == TEXT


def test_an_unknown_encoding_is_no_obstacle() -> None:
    assert decoded(BODY, content_encoding="identity, aws-chunked").text == TEXT


def test_an_empty_body_is_empty() -> None:
    assert decoded(b"", content_encoding="gzip") == Content("")


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (TEXT.encode("gbk"), {"content_type": "application/json; charset=GBK"}),
        (TEXT.encode("gbk"), {"content_type": "application/json; charset=utf-8"}),
        (TEXT.encode("gb18030"), {}),
        (TEXT.encode("utf-16"), {}),
        (TEXT.encode("utf-16-le"), {}),
        (TEXT.encode("utf-16-be"), {}),
        (TEXT.encode("utf-8-sig"), {}),
        (BODY, {"content_type": "application/json; charset=no-such-thing"}),
        (BODY, {"content_type": "application/json; charset=unicode_escape"}),
        (BODY, {"content_type": 'application/json; charset="utf-8"'}),
    ],
)
def test_the_charset_is_found(body: bytes, headers: dict[str, str]) -> None:
    assert decoded(body, **headers).text == TEXT


def test_the_charset_of_a_page_is_in_its_meta() -> None:
    page = '<html><meta charset="big5"><body>額度不足</body></html>'.encode("big5")
    assert decoded(page, content_type="text/html").visible == "額度不足"


def test_a_character_cut_off_at_the_end_does_not_change_the_charset() -> None:
    assert decoded(BODY[:-1] + "不".encode()[:2]).text == TEXT[:-1] + "\ufffd"


def test_a_few_broken_bytes_do_not_make_utf8_something_else() -> None:
    assert decoded(BODY[:3] + b"\xff" + BODY[3:]).text.count("\ufffd") == 1
    assert "额度不足" in decoded(BODY[:3] + b"\xff" + BODY[3:]).text


def test_what_is_in_no_charset_is_replaced() -> None:
    assert decoded(b"\xff\xff\xff") == Content("\ufffd" * 3, visible="\ufffd" * 3)


def test_nuls_and_half_surrogates_become_replacement_characters() -> None:
    assert cleaned("a\0b\ud800c\U0001f600") == "a\ufffdb\ufffdc\U0001f600"
    assert decoded(b"[\0]").text == "[\ufffd]"


def test_escapes_are_undone() -> None:
    assert unescaped(r"\u989d\u5ea6 &amp; &#39;x&#39; \ud83d\ude00") == "额度 & 'x' 😀"
    assert unescaped(r"\ud83d alone") == "\ufffd alone"
    assert unescaped("nothing to do") == "nothing to do"


def test_a_page_is_recognised() -> None:
    page = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
    assert decoded(page) == Content(page.decode(), True, False, "502 Bad Gateway", "nginx")


@given(
    st.binary(max_size=400),
    st.sampled_from([*PACKERS, "gzip, br", "nonsense", ""]),
    st.sampled_from(["", "gbk", "idna", "utf-7"]),
)
def test_no_bytes_raise(body: bytes, encoding: str, charset: str) -> None:
    text = decoded(body, content_encoding=encoding, content_type=f"text/plain; charset={charset}").text
    assert text.encode() and "\0" not in text or not text
