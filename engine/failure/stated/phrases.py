"""The phrases that introduce or follow a wait, by language. Data for `prose`; nothing else anchors a time.

A time in any other sentence is no wait: `8 per 86400s`, `created within the last 5 minutes`, `end of life on …`.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Phrase(NamedTuple):
    """Words beside a time. The pattern is matched where a stem stands in the lower-cased text, and begins with it.

    `lengths` and `moments` say which of the two the phrase may stand beside: `resets 3pm` is a wait, `reset 2 days` is
    not. `unless` looks at what stands before the phrase and takes it back: `connection reset after 30s`.
    """

    stems: tuple[str, ...]
    pattern: re.Pattern[str]
    lengths: bool
    moments: bool
    unless: re.Pattern[str] | None
    bare: bool  # a number without a unit is seconds: `retry after: 60`


def _phrase(
    stems: str, rest: str, *, of: str = "both", unless: str | None = None, before: str | None = None, bare: bool = False
) -> Phrase:
    """One row. In a stem `_` is a space; stems are in small letters, as is the text that patterns are matched on.

    `unless`: words that take the phrase back up to two words before it; `before`: a pattern that does so just before.
    """
    if unless:
        before = rf"\b(?:{unless})[\s_-]{{1,2}}(?:\w{{1,20}}[\s_-]{{1,2}}){{0,2}}"
    names = tuple(stem.replace("_", " ") for stem in stems.split())
    return Phrase(
        names,
        re.compile(rf"(?:{'|'.join(re.escape(name) for name in sorted(names, key=len, reverse=True))}){rest}"),
        of != "moments",
        of != "lengths",
        re.compile(rf"(?:{before})$") if before else None,
        bare,
    )


AT = r"(?:in|after|at|on|by|from|until|till|before|past)\b"
AGAIN = r"(?:\s{1,2}(?:again|later|your|this|that|the|a|it|once|more|request|requests|call|operation|sending|prompt))"

# The time follows.
LEADING: tuple[Phrase, ...] = (
    # English
    _phrase(
        "try retry trying retrying re-try",
        rf"{AGAIN}{{0,5}},?\s{{1,2}}(?:only\s|not\s)?{AT}",
        unless=r"max|maximum|last|gave\sup|stopped|kept",
    ),
    _phrase("try retry", r"(?:\sagain)?(?=\s[0-9])", of="lengths"),
    _phrase("retry", r"[- ]?(?:after|delay|at|in)(?:\sis)?\s?(?::|=|\s)", bare=True),
    _phrase("again back", r"(?:\sonline)?(?:,?\s(?:later|only))?\s(?:in|after|at|on)\b"),
    _phrase("in_", r"", of="lengths", before=r"[^.:\s]\s{0,2}"),
    _phrase(
        "in_ after_",
        r"(?=[^,.]{2,40},?\s(?:(?:and|then|please|you|can|may)\s){0,4}(?:re-?)?try)",
        of="lengths",
        unless=r"requests?|calls?|times?|tokens?|messages?|attempts?|failed",
    ),
    _phrase(
        "reset",
        r"(?:s|ting)?(?:\s(?:again|next|automatically|daily|weekly|monthly|every\s(?:day|week|month)))?"
        rf"(?:\s(?:time|date|timestamp))?(?:\s(?:is|will\sbe))?\s?(?:\s{AT}|[:=]|\sis\b)(?:\s?:)?",
        unless=r"connection|stream|socket|peer|tcp|h2|http2|password|upstream",
    ),
    _phrase("resets will_reset to_reset must_reset", r"(?=\s)", of="moments"),
    _phrase(
        "cycle period window",
        r"\s(?:ends?|ending|is\sover|expires|closes|renews)\s(?:in|on|at|after)\b",
        unless=r"trial|beta|grace",
    ),
    _phrase("time_until time_till time_to", r"\s(?:the\s)?reset(?:\sis)?\s?:?", of="lengths"),
    _phrase(
        "available accessible",
        r"(?:\sagain)?\s(?:in|at|on|after|from)\b",
        unless=r"no\slonger|not|isn.t|won.t|only",
    ),
    _phrase("available_again back_online back_again", r"(?=\s)", of="moments", unless=r"not|isn.t|won.t"),
    _phrase(
        "renew refresh replenish refill restore recover resume regain return unlock unblock lift",
        r"(?:e?s|e?d|ing)?"
        rf"(?:\s(?:access|service|again|to|your|the|full|usage|limits?|quota|automatically)){{0,4}}\s{AT}",
        unless=r"token",
    ),
    _phrase(
        "wait",
        r"(?:\stime)?(?:\s(?:for|at\sleast|until|till|is|of))?(?=[\s:])",
        unless=r"max|maximum|queue|lock|timed\sout|timeout",
    ),
    _phrase("estimated eta", r"(?:\swait(?:ing)?)?(?:\stime)?(?:\sis)?\s?[:=]?(?=\s)", of="lengths"),
    _phrase("back_off backoff back-off", r"(?:\sfor)?(?=\s)", of="lengths"),
    _phrase("slow_down", r"\s(?:for|until)\b"),
    _phrase(
        "blocked locked limited suspended banned paused throttled unavailable exhausted exceeded reached limit "
        "cooldown cool-down cooling_down closed disabled out_of",
        r"(?:\s\w{1,16}){0,3}\s(?:un)?till?\b",
        of="moments",
    ),
    _phrase(
        "blocked locked_out rate_limited rate-limited banned paused throttled cooldown cool-down cooling_down",
        r"\sfor\b",
        of="lengths",
    ),
    _phrase(
        "cooldown cool-down cool_down",
        r"(?:\s(?:period|time))?(?:\s(?:of|remaining|left|ends|expires|is|active))?"
        r"(?:\s(?:in|at|for))?\s?[:=(]?(?=[\s~0-9])",
    ),
    _phrase("wait lockout ban", r"(?:\stime)?\s(?:remaining|left)\s?:?", of="lengths"),
    _phrase("remaining_wait", r"(?:\stime)?\s?:?", of="lengths"),
    _phrase(
        "next",
        r"\s(?:reset|refresh|renewal|window|slot|attempt|request|retry)(?:\s\w{1,12}){0,2}\s?(?:in|at|on|after|:)",
    ),
    _phrase("reached|", r"", of="moments"),
    # Spanish, Portuguese, French, Italian, German, Russian
    _phrase(
        "intent intént reintent reintént vuelv prueb pruéb esper",
        r"\w{1,6}(?:\s(?:de|nuevo|otra|vez|a|intentarlo|probar|por|favor|al|menos)){0,6}"
        r"(?:\s(?:en|dentro\sde|despu[eé]s\sde|tras|a\slas|el))?(?=\s)",
    ),
    _phrase(
        "restable reinici renov renuev",
        r"\w{1,8}(?:\s[^\W\d]{1,12}){0,2}\s(?:en|dentro\sde|despu[eé]s\sde|tras|a\slas|el|em|ap[oó]s|[àa]s)",
    ),
    _phrase(
        "tente tentar aguarde aguardar",
        r"(?:\s(?:novamente|de\snovo|outra\svez|por|pelo\smenos)){0,2}"
        r"(?:\s(?:em|ap[oó]s|daqui\sa|depois\sde|dentro\sde|[àa]s))?(?=\s)",
    ),
    _phrase("redefini restaurad", r"\w{1,6}\s(?:em|ap[oó]s|[àa]s|no\sdia)"),
    _phrase(
        "réessay reessay réessai reessai essay attend patient",
        r"\w{1,4}(?:\s(?:à|nouveau|de|encore|au|moins)){0,3}(?:\s(?:dans|apr[eè]s|à|le))?(?=\s)",
    ),
    _phrase(
        "réinitialis reinitialis disponible",
        r"\w{0,6}(?:\s[^\W\d]{1,12})?\s(?:[àa]\spartir\s(?:du|del?|das?|do)|dans|à|le|apr[eè]s|en|dentro\sde|a\slas)",
    ),
    _phrase(
        "riprov attend reimpost ripristin",
        r"\w{1,6}(?:\s(?:di\snuovo|almeno))?(?:\s(?:tra|fra|dopo|alle|il))?(?=\s)",
    ),
    _phrase(
        "versuch wart erneut wieder nochmal zurückgesetzt zurueckgesetzt",
        r"[a-z]{0,4}(?:\s(?:sie|es|bitte|noch|mindestens|erneut|wieder|verf(?:ü|ue)gbar)){0,4}"
        r"(?:\s(?:in|nach|um|ab|am))?(?=\s)",
    ),
    _phrase(
        "повтор попроб подожд сбро обнов доступ восстанов",
        r"\w{0,9}(?:\s(?!через|после|в\s|до\s)[^\W\d]{1,14}){0,3}(?:\s(?:через|после|в|до))?(?=\s)",
    ),
    # Chinese, Japanese, Korean
    _phrase(
        "距",
        r"(?:离|離)?(?:下次|下一次|额度|額度|配额)?(?:重置|刷新|恢复|恢復|解封|解除|重试|可用)(?:时间|時間)?"
        r"(?:还有|還有|还剩|還剩|还需|還需|剩余|:)",
        of="lengths",
    ),
    _phrase("请等 請等 等待 等候 稍等 需等 再等", r"(?:待|候)?(?:至|到)?"),
    _phrase("请间隔 請間隔 需间隔 至少间隔", r"", of="lengths"),
    _phrase(
        "冷却 冷卻",
        r"(?:中|期|时间|時間|到期)?.{0,4}?(?:剩余|剩餘|还需|還需|还剩|至|:|为)(?:时间|時間)?",
    ),
    _phrase("剩余 剩餘 还需 還需", r"(?:等待|冷却|冷卻|恢复)(?:时间|時間)?"),
    _phrase(
        "重置 恢复 恢復 解封 解除 解锁 刷新 重试 可用",
        r"(?:使用)?(?:的)?(?:时间|時間|时刻|日期|倒计时|于|於|在)(?:\s?(?:是|为|為|约))?",
    ),
    _phrase("预计 預計", r"(?:将|會|会)?(?:在|于|於)?", of="lengths"),
    _phrase(
        "リセット 待機時間 再試行まで 再試行可能時刻 復旧まで 復旧予定 残り時間 あと",
        r"(?:まで|時刻|時間|日時|予定)?(?:は|:|\s|が){0,3}",
    ),
    _phrase("대기 재시도까지 초기화 재설정 리셋 남은_시간", r"(?:까지|\s?시간|\s?시각|\s?일시)?(?:은|는|:|\s){0,3}"),
)

# The time stands before. A length must be said to lie ahead (`30秒后`), so that `每5小时重置` is no wait.
_ACT = (
    r"(?:重试|重試|再试|再試|尝试|嘗試|重置|恢复|恢復|刷新|更新|解除|解封|解锁|解鎖|解禁|可用|使用|请求|請求|调用|調用|发起"
    r"|继续|繼續|重新|再)"
)
TRAILING: tuple[Phrase, ...] = (
    _phrase("后 後 之后 之後 以后 以後", rf",?\s?[您你请請将將會会可能才自动動系统额度額配]{{0,8}}\s?{_ACT}"),
    _phrase(
        "重置 恢复 恢復 刷新 解封 解除 解锁 解鎖 可用 重试 重試 再试 将 將 会 會 时 時 自动",
        r"(?:[您你请請将將會会可能才自动動再]{0,6}\s?)?(?:重置|恢复|恢復|刷新|解封|解除|解锁|解鎖|可用|重试|重試|再试)?",
        of="moments",
    ),
    _phrase("後 経過後 経って 待って お待ち", r"(?:に|で|から|いただいて|くださ|頂いて|、|\s){1,3}", of="lengths"),
    _phrase(
        "に から 以降 より",
        r"に?\s?.{0,6}?(?:リセット|再試行|再度|再開|解除|利用可能|利用できる|復旧|回復|お試し)",
        of="moments",
    ),
    _phrase("후 뒤 이후", r"(?:에|로)?(?=\s|$|[.,다재초])", of="lengths"),
    _phrase("동안_기다 기다 대기", r"", of="lengths"),
    _phrase("에 이후 부터", r"에?\s?(?:자동으로\s)?(?:초기화|재설정|리셋|다시|재시도)", of="moments"),
    _phrase(
        "before",
        r"\s(?:(?:re-?)?trying|sending|making|attempting|submitting|requesting|you|your\snext|the\snext|another)",
        of="lengths",
    ),
    _phrase(
        "until till remaining_until left_until",
        r"\s(?:the\s|your\s)?(?:next\s)?(?:reset|retry|refresh|renewal)",
        of="lengths",
    ),
    _phrase("erneut wieder nochmal noch_einmal zurückgesetzt zurueckgesetzt", r""),
)
