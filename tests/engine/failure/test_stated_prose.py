"""Sentences: a time beside an anchored phrase is a wait, in any language; a time in any other sentence is not."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultwise.engine.failure.stated.phrases import LEADING, TRAILING
from faultwise.engine.failure.stated.prose import CLIP, stated
from faultwise.engine.failure.stated.value import LIMIT

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC).timestamp()  # a Sunday
DAY = 86400


def read(text: str) -> float | None:
    found = stated([text], NOW)
    return found[0] if found else None


ENGLISH: list[tuple[str, float]] = [
    ("Please try again in 7m12.5s.", 432.5),
    ("Try again in 30 minutes", 1800),
    ("in 30 minutes", 1800),
    ("Retry in 250ms", 0.25),
    ("please try again after 24 hours", DAY),
    ("Please retry after 60 seconds", 60),
    ("retry after: 60", 60),
    ("Retry-After: 12", 12),
    ("You may retry your request in about 20 seconds", 20),
    ("You can try again in **5 minutes**.", 300),
    ("Please try again 30 seconds later", 30),
    ("In 30 seconds, please try again", 30),
    ("try again in 3 days 4 hours 5 minutes.", 3 * DAY + 4 * 3600 + 300),
    ("try again at 5:13 PM.", 5 * 3600 + 13 * 60),
    ("try again in an hour", 3600),
    ("resets in 13 days", 13 * DAY),
    ("Resets in 2h 30m", 9000),
    ("(reset after 24h)", DAY),
    ("Your rate limit resets in ~30s.", 30),
    ("limit resets: 1h 4m", 3840),
    ("limit reached · resets 10pm (Europe/London)", 10 * 3600),
    ("Your limit resets at 3:00 PM (America/New_York)", 8 * 3600),
    ("It resets every day at midnight UTC", 12 * 3600),
    ("Limit resets at: 2026-11-29 12:10:00 UTC", 600),
    ("It will reset at 2026-11-30 20:00:00 +0800 CST.", DAY),
    ("Your limit will reset Nov 30, 2026 at 8:00 AM UTC", 20 * 3600),
    ("available again at 2026-11-30T00:00:00Z", 12 * 3600),
    ("Throttled. Expected available in 15 seconds.", 15),
    ("You regain access on 2026-12-02 at 00:00 UTC", 2 * DAY + 12 * 3600),
    ("Your credits refresh on December 1st", DAY + 12 * 3600),
    ("Please wait 42 minutes and 35 seconds", 2555),
    ("allow 20 seconds before retrying", 20),
    ("wait until 2026-11-29T12:05:00+00:00", 300),
    ("Back off for at least 120 seconds", 120),
    ("Rate limited until 2026-11-29T13:00:00.000Z", 3600),
    ("This key is blocked for 10 minutes", 600),
    ("cooldown: 30s remaining", 30),
    ("45 seconds until reset", 45),
    ("Next reset: 2026-11-30 00:00 UTC", 12 * 3600),
    ("Model is loading. Estimated time: 20 seconds", 20),
    ("usage limit reached|1795960800", 7200),
]

OTHERS: list[tuple[str, float]] = [
    ("请在 30 秒后重试", 30),
    ("请求过于频繁，请60秒后再试", 60),
    ("请五分钟后再试", 300),
    ("６０秒后重试", 60),
    ("请等待 120 秒", 120),
    ("冷却中，剩余 45 秒", 45),
    ("额度将于 2小时30分钟 后重置", 9000),
    ("额度将在 2026-11-30 00:00:00 重置", 12 * 3600),
    ("于 12月1日 00:00（北京时间）重置", 28 * 3600),
    ("重置时间：2026-11-30 00:00:00 (UTC+8)", 4 * 3600),
    ("每日额度将在明天 00:00 重置", 12 * 3600),
    ("距离下次重置还剩 1 小时 20 分", 4800),
    ("該額度將於 30 分鐘後恢復", 1800),
    ("30秒後に再試行してください", 30),
    ("60秒待ってから再試行してください", 60),
    ("制限は2026-11-30 00:00にリセットされます", 12 * 3600),
    ("リセット時刻: 2026-11-30 09:00 JST", 12 * 3600),
    ("あと30秒お待ちください", 30),
    ("1시간 30분 후 다시 시도하세요", 5400),
    ("2026-11-30 00:00에 초기화됩니다", 12 * 3600),
    ("대기 시간: 30초", 30),
    ("Inténtalo de nuevo en 5 minutos", 300),
    ("Espere 30 segundos", 30),
    ("El límite se restablece en 2 horas", 7200),
    ("Tente novamente em 10 segundos", 10),
    ("O limite será redefinido em 3 horas", 3 * 3600),
    ("Veuillez réessayer dans 20 secondes", 20),
    ("La limite sera réinitialisée dans 2 heures", 7200),
    ("La limite sera réinitialisée à 14h", 7200),
    ("Limit wird um 14 Uhr zurückgesetzt", 7200),
    ("Limit wird am 30. November um 12 Uhr zurückgesetzt", 86400),
    ("Inténtelo de nuevo mañana a las 12:00", 86400),
    ("Повторите попытку 30 ноября в 12:00", 86400),
    ("月曜日の午後0時にリセットされます", 86400),
    ("월요일 오후 12시에 초기화됩니다", 86400),
    ("It is available again tomorrow at noon", 86400),
    ("Riprova tra 5 minuti", 300),
    ("Bitte versuchen Sie es in 5 Minuten erneut", 300),
    ("Das Limit wird um 15:00 UTC zurückgesetzt", 3 * 3600),
    ("Повторите попытку через 30 секунд", 30),
    ("Доступ будет восстановлен через 30 минут", 1800),
]

WRAPPED: list[tuple[str, float]] = [
    ("{'error': {'@type': 'google.rpc.RetryInfo', 'retryDelay': '26s'}}", 26),
    ("b'{\\\"resets_in_seconds\\\": 756}'", 756),
    ("429 retry_delay {\n  seconds: 26\n}", 26),
    ("retry_after=30", 30),
    ("x; quota_reset_at=2026-11-30T00:00:00Z", 12 * 3600),
    ("'estimated_time': 20.0}", 20),
    ("retryAfter: 12s", 12),
]


@pytest.mark.parametrize("text, seconds", ENGLISH + OTHERS + WRAPPED)
def test_a_time_beside_an_anchored_phrase_is_a_wait(text: str, seconds: float) -> None:
    assert read(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "try again later",
        "Please retry after a brief wait.",
        "try again in a moment",
        "retry after 0s",
        "retry after 3 attempts",
        "try again at 2020-01-01",
        "limit of 8 per 60s exceeded",
        "5 requests per 30 seconds, please retry",
        "Limit is 20 per 60 seconds before sending another request",
        "You sent 10 requests in 60 seconds, please retry",
        "created within the last 5 minutes, wait a moment",
        "access can take up to 15 minutes to spread",
        "limits reset every 5h",
        "reset 2 days",
        "Connection reset after 30s of silence",
        "timed out after waiting 60s",
        "maximum wait 60s exceeded",
        "gave up retrying after 30s",
        "no longer available after 2027-01-01",
        "valid until 2026-12-31",
        "Used 5 of 10 in the last 24 hours",
        "the context window has 8192 tokens in 5 regions",
        "reset=30",
        "retry_after=never 5",
        "已达到 5 小时的上限",
        "每5小时重置一次",
        "1分钟内请求过多，请稍后重试",
        "24小时内最多请求100次",
        "しばらくしてから再試行してください",
        "잠시 후 다시 시도해 주세요",
    ],
)
def test_a_time_in_any_other_sentence_is_no_wait(text: str) -> None:
    assert read(text) is None


def test_the_words_that_state_the_wait_are_named() -> None:
    assert stated(["Too many. Please try again\n in  7m12.5s. Thanks"], NOW) == (432.5, "try again in 7m12.5s")


def test_an_implausible_wait_gives_way_to_the_next_one() -> None:
    assert read("Try again in 0 seconds. Resets in 5 minutes.") == 300


def test_the_first_wait_of_the_innermost_text_counts() -> None:
    assert stated(["nothing", "retry in 5s, or retry in 9s", "retry in 1s"], NOW) == (5, "retry in 5s")


def test_a_zoneless_moment_is_in_the_providers_zone() -> None:
    found = stated(["将在 2026-11-29 23:00:00 重置"], NOW, ZoneInfo("Asia/Shanghai"))
    assert found and found[0] == 3 * 3600


def test_what_the_client_wrote_states_nothing() -> None:
    text = "cannot read `try again in 5 minutes`; retry in 9s"
    assert stated([text], NOW, echoed=lambda words, _: words == "try again in 5 minutes") == (9, "retry in 9s")


def test_only_the_first_texts_are_read() -> None:
    assert stated(["x" * CLIP, "retry in 5s"], NOW) is None


def test_letters_that_grow_when_made_small_do_not_shift_the_text() -> None:
    assert stated(["İİİ retry in 5s"], NOW) == (5, "retry in 5s")


def test_every_stem_begins_its_own_pattern() -> None:
    for phrase in LEADING + TRAILING:
        for stem in phrase.stems:
            assert stem == stem.lower()
            assert phrase.pattern.pattern.find(stem.replace(" ", "\\ ").replace("-", "\\-").replace("|", "\\|")) >= 0


@pytest.mark.parametrize(
    "text",
    [
        "1" * 65_536,
        "try again in 1 " * 4_400,
        "30秒后x" * 13_000,
        "再試行に" * 16_000,
        "retry" + " " * 65_000,
        "resets " * 9_000 + "1",
    ],
)
def test_a_long_text_is_read_to_its_end(text: str) -> None:
    assert read(text) is None


pieces = st.sampled_from([text for text, _ in ENGLISH + OTHERS + WRAPPED]) | st.text(max_size=12) | st.characters()


@given(st.lists(pieces, max_size=6).map("".join), st.integers(0, 80))
def test_any_text_states_a_plausible_wait_or_none(text: str, cut: int) -> None:
    for part in (text, text[cut:], text[:cut]):
        found = stated([part], NOW)
        assert found is None or 0 < found[0] <= LIMIT


@given(st.integers(1, 400), st.sampled_from(["seconds", "minutes", "hours", "s", "m"]))
def test_a_length_written_into_a_sentence_is_read_back(amount: int, unit: str) -> None:
    wanted = amount * {"s": 1, "m": 60, "h": 3600}[unit[0]]
    assert read(f"You have used 8 of 8 per 60s. Please try again in {amount} {unit}. See the docs (v2).") == wanted
