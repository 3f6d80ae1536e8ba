"""What must not be seen, however short it is."""

from __future__ import annotations

import pytest

from faultwise.server.proxy.headers import down
from faultwise.server.secret import masked


@pytest.mark.parametrize("text", ["Bearer pw1: denied", "key=pw1", "(pw1)", "pw1"])
def test_a_short_credential_is_masked_where_it_stands_alone(text: str) -> None:
    assert "pw1" not in masked(text, ["pw1"])


def test_the_letters_of_words_are_not_taken_for_a_short_credential() -> None:
    assert masked("the token is unknown", ["k", ""]) == "the token is unknown"


def test_a_long_credential_is_masked_wherever_it_stands() -> None:
    assert masked("x-long-credential-x", ["long-credential"]) == "x-***-x"


def test_headers_that_quote_a_credential_do_not_reach_the_client() -> None:
    headers = ((b"x-debug", b"auth k ok"), (b"x-echo", b"xlong-credentialx"), (b"x-token-kind", b"bucket"))
    assert down(headers, ("k", "long-credential")) == [(b"x-token-kind", b"bucket")]
