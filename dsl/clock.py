"""A time of day in a zone, and when it comes next. Knows no present: `now` is handed in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo


def is_zone(name: str) -> bool:
    """Whether a name is one of the IANA time zone database."""
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # what zoneinfo raises for unknown, malformed and directory names
        return False
    return True


@dataclass(frozen=True, slots=True)
class Clock:
    """`hour`:`minute` each day by the clocks of `zone`, an IANA name. Raises ValueError for what no clock shows."""

    hour: int
    minute: int
    zone: str

    def __post_init__(self) -> None:
        if not (0 <= self.hour <= 23 and 0 <= self.minute <= 59):
            raise ValueError(f"`{self.hour:02}:{self.minute:02}` is not a time of day, write one from 00:00 to 23:59")
        if not is_zone(self.zone):
            raise ValueError(f"unknown time zone `{self.zone}`")

    def next(self, now: float) -> float | None:
        """The first such moment after `now`, both in seconds since the epoch; None where no calendar reaches.

        Where clocks are put forward over that time, the moment at which it would have been; where they are put back,
        the first of the two: a quota that refills daily refills once.
        """
        try:
            return self._next(now, ZoneInfo(self.zone))
        except (OverflowError, ValueError, OSError):  # what datetime raises for times beyond its years, by platform
            return None

    def _next(self, now: float, zone: ZoneInfo) -> float:
        today = datetime.fromtimestamp(now, zone).replace(hour=self.hour, minute=self.minute, second=0, microsecond=0)
        day = today.replace(tzinfo=None, fold=0)
        moment = day.replace(tzinfo=zone).timestamp()
        while moment <= now:
            day += timedelta(days=1)
            moment = day.replace(tzinfo=zone).timestamp()
        return moment

    def __str__(self) -> str:
        return f"{self.hour:02}:{self.minute:02} {self.zone}"
