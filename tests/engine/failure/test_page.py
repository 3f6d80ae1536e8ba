"""HTML pages: recognised and reduced."""

from __future__ import annotations

import pytest

from faultwise.engine.failure.page import LONGEST_TITLE, is_page, visible


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<html>x", ""),
        ("\n <!DOCTYPE html><html>", "text/plain"),
        ("<center>x", "text/html; charset=utf-8"),
        ("<body>", "application/octet-stream"),
    ],
)
def test_pages(text: str, kind: str) -> None:
    assert is_page(text, kind)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"error": 1}', "text/html"),
        ("Too Many Requests", "text/html"),
        ("<error>x</error>", ""),
        ("<html>", "application/json"),
    ],
)
def test_what_is_no_page(text: str, kind: str) -> None:
    assert not is_page(text, kind)


def test_title_and_visible_text_are_kept_and_the_rest_is_dropped() -> None:
    page = (
        "<html><head><title> 403\n Forbidden </title><style>p{}</style><!-- hidden --></head>"
        "<body><h1>Access&nbsp;denied</h1><p>Ray <b>ID</b>: 7&lt;8</p><script>var quota = '</b>'</script>bye</body></html>"
    )
    assert visible(page) == ("403 Forbidden", "Access denied Ray ID: 7<8 bye")


def test_words_across_inline_tags_stay_together_and_across_blocks_apart() -> None:
    assert visible("<p>rate<b>limit</b></p><p>reached</p>")[1] == "ratelimit reached"


@pytest.mark.parametrize(
    "page", ["<html><script>var x", "<html><!-- never closed", "<html><p class='", "<html><title>"]
)
def test_what_is_never_closed_reaches_to_the_end(page: str) -> None:
    assert visible(page)[1] == ""


def test_a_lone_angle_is_text() -> None:
    assert visible("<html>1 < 2 </ 3")[1] == "1 < 2 </ 3"


def test_a_letter_whose_lower_case_is_longer_does_not_shift_anything() -> None:
    assert visible("<html>İ<SCRIPT>x</SCRIPT>y<script>x</script>z")[1].startswith("İ")


def test_the_first_title_counts_and_is_bounded() -> None:
    title, _ = visible(f"<title>{'x' * 1000}</title><svg><title>y</title></svg>")
    assert title == "x" * LONGEST_TITLE
