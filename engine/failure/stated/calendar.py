"""The words of the calendar, by language: months, days of the week, days from today, halves of the day.

English, German, French, Spanish, Portuguese, Italian, Dutch, Russian, Chinese, Japanese, Korean. Words that also mean
something else (`set`, `out`, `mar` for Tuesday) are left out, or want their full stop.
"""

from __future__ import annotations

from collections.abc import Iterable

from .duration import alternatives

_MONTHS = (
    "jan january januar jänner janvier janv enero ene janeiro gennaio genn gen januari январь января янв",
    "feb february februar février fevrier févr fév febrero fevereiro fev febbraio febb februari февраль февраля февр фев",
    "mar march märz maerz mär mars marzo março marco maart mrt март марта",
    "apr april avril avr abril abr aprile апрель апреля апр",
    "may mai mayo maio maggio magg mag mei май мая",
    "jun june juni juin junio junho giugno giu июнь июня июн",
    "jul july juli juillet juil julio julho luglio lug июль июля июл",
    "aug august août aout agosto ago augustus август августа авг",
    "sep sept september septembre septiembre setiembre setembro settembre sett set. сентябрь сентября сент сен",
    "oct october oktober okt octobre octubre outubro out. ottobre ott октябрь октября окт",
    "nov november novembre noviembre novembro ноябрь ноября нояб ноя",
    "dec december dezember dez décembre decembre déc diciembre dic dezembro dicembre декабрь декабря дек",
)
MONTHS = {word: month for month, words in enumerate(_MONTHS, 1) for word in words.split()}

_WEEKDAYS = (
    "mon monday mo. montag lundi lun. lunes segunda-feira segunda lunedì maandag понедельник понедельника пн "
    "周一 週一 星期一 礼拜一 禮拜一 月曜 월요일",
    "tue tues tuesday di. dienstag mardi martes terça-feira terça martedì dinsdag вторник вторника вт "
    "周二 週二 星期二 礼拜二 禮拜二 火曜 화요일",
    "wed wednes wednesday mi. mittwoch mercredi miércoles quarta-feira quarta mercoledì woensdag среда среду среды ср "
    "周三 週三 星期三 礼拜三 禮拜三 水曜 수요일",
    "thu thur thurs thursday do. donnerstag jeudi jueves quinta-feira quinta giovedì donderdag четверг четверга чт "
    "周四 週四 星期四 礼拜四 禮拜四 木曜 목요일",
    "fri friday fr. freitag vendredi viernes sexta-feira sexta venerdì vrijdag пятница пятницу пятницы пт "
    "周五 週五 星期五 礼拜五 禮拜五 金曜 금요일",
    "sat satur saturday sa. samstag sonnabend samedi sábado sabato zaterdag суббота субботу субботы сб "
    "周六 週六 星期六 礼拜六 禮拜六 土曜 토요일",
    "sun sunday so. sonntag dimanche domingo domenica zondag воскресенье воскресенья вс "
    "周日 週日 星期日 礼拜日 禮拜日 周天 週天 星期天 礼拜天 日曜 일요일",
)
WEEKDAYS = {word: day for day, words in enumerate(_WEEKDAYS) for word in words.split()}

DAYS = {
    "today": 0, "heute": 0, "hoy": 0, "hoje": 0, "oggi": 0, "aujourd'hui": 0, "vandaag": 0, "сегодня": 0,
    "今天": 0, "今日": 0, "本日": 0, "오늘": 0,
    "tomorrow": 1, "morgen": 1, "mañana": 1, "amanhã": 1, "domani": 1, "demain": 1, "завтра": 1,
    "明天": 1, "明日": 1, "내일": 1,
    "übermorgen": 2, "pasado mañana": 2, "depois de amanhã": 2, "dopodomani": 2, "après-demain": 2, "послезавтра": 2,
    "后天": 2, "後天": 2, "明後日": 2, "모레": 2,
}  # fmt: skip
HALVES = {
    "am": 0, "a.m.": 0, "de la mañana": 0, "da manhã": 0, "du matin": 0, "di mattina": 0, "утра": 0, "ночи": 0,
    "上午": 0, "凌晨": 0, "早上": 0, "清晨": 0, "午前": 0, "오전": 0, "새벽": 0,
    "pm": 12, "p.m.": 12, "de la tarde": 12, "de la noche": 12, "da tarde": 12, "da noite": 12, "du soir": 12,
    "de l'après-midi": 12, "di sera": 12, "вечера": 12, "дня": 12,
    "下午": 12, "晚上": 12, "傍晚": 12, "午後": 12, "오후": 12, "저녁": 12,
}  # fmt: skip
NAMED_TIMES = {
    "midnight": 0, "noon": 12, "mitternacht": 0, "minuit": 0, "medianoche": 0, "meia-noite": 0, "mezzanotte": 0,
    "полночь": 0, "mediodía": 12, "mittag": 12, "midi": 12, "零点": 0, "零點": 0, "午夜": 0, "자정": 0, "정오": 12,
}  # fmt: skip

_DRAWN = "\u1100"  # from here on words are drawn, and anything may follow them


def _spelt(words: Iterable[str]) -> str:
    return rf"(?:{alternatives(word for word in words if word[0] < _DRAWN)})(?![^\W\d_])"


def _drawn(words: Iterable[str]) -> str:
    return f"(?:{alternatives(word for word in words if word[0] >= _DRAWN)})"


# Regexes of what is named, for letters of either case.
MONTH = rf"(?P<name>{_spelt(MONTHS)})\.?"
_WEEKDAY = rf"(?:{_spelt(WEEKDAYS)}\.?|{_drawn(WEEKDAYS)}日?)"
WEEKDAY = rf"(?P<late>下个?|下個|来週の?|다음\s?주\s?)?(?P<weekday>{_WEEKDAY})"
WEEKDAY_ASIDE = rf"\s{{0,2}}(?:\(\s?(?:{_WEEKDAY}|[月火水木金土日월화수목금토일])\s?\)|{_drawn(WEEKDAYS)}日?)"
DAY = f"(?:{_spelt(DAYS)}|{_drawn(DAYS)})"
HALF_BEFORE = _drawn(HALVES)
HALF_BEHIND = _spelt(HALVES)
NAMED_TIME = f"(?:{_spelt(NAMED_TIMES)}|{_drawn(NAMED_TIMES)})"
