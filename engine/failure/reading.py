"""What a failure says: decoded, taken apart, compared with the request. Lazy, and the subject of every expression.

Nothing here decides what a failure means; it only answers questions about it, each at most once.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from faultwise.dsl import fold

from . import echo
from .account import Account, Layer
from .decode import Content, cleaned, content, unescaped
from .echo import Echo
from .envelope import Envelopes
from .folded import folded
from .lazy import lazy
from .literal import MISSING, parse, texts
from .record import BODY_LIMIT, REQUEST_LIMIT, Failure
from .seen import Seen, see, see_frames
from .stated import Stated, find_stated

if TYPE_CHECKING:
    from faultwise.engine.policy.model import Provider


TEXT_LIMIT = 32 * 1024  # characters of `text`
MOST_LEAVES = 24  # texts taken from JSON of no known shape
LONGEST_LEAF = 500
DEEPEST_LEAF = 6
FRAMES = "application/vnd.amazon.eventstream"
UNSENT = ("transport", "local")  # phases of failures without a response

_NOTHING = Account((), (), (), (), (), (), (Layer(),))


class Nature(NamedTuple):
    """Whether a response that was no refusal is a failure at all, where it showed, and what it counts as."""

    is_error: bool
    phase: str
    kind: str | None
    status: int | None


class Reading:
    """One failure, read. Properties are computed when they are asked for, and kept."""

    def __init__(self, failure: Failure, envelopes: Envelopes, declared: Provider | None = None) -> None:
        self.failure = failure
        self.envelopes = envelopes
        self.declared = declared  # what the provider's file says
        self.headers = failure.headers
        self.upstream_status = status = failure.status
        self._refused = refused = status is not None and not 200 <= status < 400  # the status on the wire is an error
        unsent = failure.phase in UNSENT
        if refused or unsent:  # nothing needs to be read to know what it is
            self.is_error = True
            self.phase = failure.phase
            self.kind = failure.kind
            self.status = None if unsent else status

    provider = property(attrgetter("failure.provider"))
    connection = property(attrgetter("failure.connection"))
    model = property(attrgetter("failure.model"))
    host = property(attrgetter("failure.host"))
    egress = property(attrgetter("failure.egress"))
    wire = property(attrgetter("failure.wire"))
    auth = property(attrgetter("failure.auth"))  # None: as the provider's file says
    attempt = property(attrgetter("failure.attempt"))
    now = property(attrgetter("failure.now"))

    def at(self, status: int) -> Reading:
        """The same failure under a restated status. What was computed stays."""
        other = Reading.__new__(Reading)
        other.__dict__.update(self.__dict__)
        other.status = status
        return other

    # --- what it is

    @lazy
    def is_error(self) -> bool:
        """Whether it is a failure: False for a 200 that is fine."""
        nature = self._nature
        known = self.__dict__  # who asks this asks the others next
        known["phase"], known["kind"] = nature.phase, nature.kind
        known.setdefault("status", nature.status)
        return nature.is_error

    @lazy
    def phase(self) -> str:
        """Where the failure showed."""
        return self._nature.phase

    @lazy
    def kind(self) -> str | None:
        """What went wrong in transport, or here."""
        return self._nature.kind

    @lazy
    def status(self) -> int | None:
        """The effective status; None for transport and local failures."""
        return self._nature.status

    @property
    def key(self) -> int | str | None:
        """What rules are looked up by: the effective status, or the kind."""
        return self.kind if self.status is None else self.status

    @lazy
    def _nature(self) -> Nature:
        failure = self.failure
        seen = self._seen
        if not seen.failed and seen.ending is None:
            if self.content.encoding_broken:
                return Nature(True, "transport", "bad_encoding", None)
            return Nature(False, failure.phase, failure.kind, failure.status)
        return Nature(True, self._shown(seen), failure.kind, self._stands_for(seen))

    def _shown(self, seen: Seen) -> str:
        """The phase of a failure that came with a 200."""
        if seen.ending is not None:
            return "finish"
        if self.failure.phase != "response":
            return self.failure.phase
        if not seen.stream:
            return "body"
        return "stream" if seen.spoken else "stream_start"

    def _stands_for(self, seen: Seen) -> int:
        """The status of an error in a 200: its own number, or what its words stand for, or the wire's.

        Where a gateway names none, the server behind it is believed before the gateway's words.
        """
        account, envelopes = self._account, self.envelopes
        words = account.codes + account.types
        return (
            account.own
            or (len(account.layers) > 1 and self.inner_status)
            or envelopes.mapped(words)
            or (seen.ending.status if seen.ending else None)
            or self.inner_status
            or 200
        )

    # --- what it says

    @lazy
    def content(self) -> Content:
        """The body as text."""
        return content(self.failure.body, self.failure.headers)

    @property
    def body(self) -> str:
        """The decoded body."""
        return self.content.text

    @property
    def html(self) -> bool:
        """Whether the body, or a message in it, is a page."""
        return self.content.html or self._account.page

    @property
    def title(self) -> str | None:
        """The title of the page."""
        return self.content.title

    @property
    def json(self) -> Any:
        """The JSON that was read: the body's, or the failing event's. None where there is none."""
        return None if self._seen.document is MISSING else self._seen.document

    @property
    def documents(self) -> tuple[Any, ...]:
        """`json`, then the JSON found inside it, from the outside in."""
        return self._account.documents or (() if self._seen.document is MISSING else (self._seen.document,))

    @property
    def message(self) -> tuple[str, ...]:
        """The messages, innermost first, without those that only wrap another."""
        return self._account.messages

    @property
    def code(self) -> tuple[str, ...]:
        """The codes, innermost first."""
        return self._account.codes

    @property
    def type(self) -> tuple[str, ...]:
        """The types, innermost first."""
        return self._account.types

    @property
    def param(self) -> tuple[str, ...]:
        """The parameters complained about, innermost first."""
        return self._account.params

    @property
    def outer(self) -> tuple[str, ...]:
        """What the gateways in front of the server that failed said, outermost first."""
        return self._account.outer

    @lazy
    def inner_status(self) -> int | None:
        """The status the innermost layer names, where a gateway relays another server's error."""
        return self.envelopes.inner_status(self._account, self._repeats)

    @lazy
    def _words(self) -> tuple[str, ...]:
        """Codes, types and params, folded."""
        return self._fold()[0]

    @property
    def code_folded(self) -> tuple[str, ...]:
        """The codes, folded."""
        return self._words[: len(self.code)]

    @property
    def type_folded(self) -> tuple[str, ...]:
        """The types, folded."""
        return self._words[len(self.code) : len(self.code) + len(self.type)]

    @property
    def param_folded(self) -> tuple[str, ...]:
        """The parameters, folded."""
        return self._words[len(self.code) + len(self.type) :]

    @property
    def tokens(self) -> tuple[str, ...]:
        """Codes and types, folded."""
        return self._words[: len(self.code) + len(self.type)]

    @lazy
    def terse(self) -> str:
        """Codes and types, folded, a line each: what `text` is without prose."""
        return "\n".join(self.tokens)

    @property
    def terse_raw(self) -> str:
        """Codes and types, as sent, a line each."""
        return "\n".join(self.code + self.type)

    @lazy
    def message_folded(self) -> tuple[str, ...]:
        """The messages, folded, as much of them as `text` holds."""
        return self._fold()[1]

    @lazy
    def text(self) -> str:
        """Codes, types, params and messages, folded, a line each: no folded marker spans two.

        At most `TEXT_LIMIT` characters. INVARIANT: it holds everything that those fields hold, folded.
        """
        words, messages = self._fold()
        return "\n".join(words + messages)

    def _fold(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        account = self._account
        words = account.codes + account.types + account.params
        left = TEXT_LIMIT
        if words:
            words = tuple([_word(one) for one in words])
            left -= sum(map(len, words)) + len(words) - 1
        messages = _within(account.messages, left)
        known = self.__dict__  # who asks for one of them asks for the others next
        known["_words"], known["message_folded"] = words, messages
        return words, messages

    @property
    def text_raw(self) -> str:
        """Codes, types, params and messages, as sent, a line each."""
        return "\n".join(self.code + self.type + self.param + self.message)[:TEXT_LIMIT]

    @lazy
    def body_folded(self) -> str:
        """The body, escapes undone, folded."""
        return folded(unescaped(self.body))

    @lazy
    def stated(self) -> Stated | None:
        """What the upstream says about time."""
        return find_stated(self)

    # --- against the request

    @lazy
    def request_text(self) -> str:
        """What the client sent, folded, for the echo guard."""
        return echo.request_text(self.failure.request)

    @lazy
    def request(self) -> Any:
        """The client's request as JSON; None where it is none."""
        if not self.failure.request:
            return None
        value = parse(self.failure.request[:REQUEST_LIMIT].decode("utf-8", "replace"))
        return None if value is MISSING else value

    def has_text(self, marker: str) -> bool:
        """Whether `text` holds a folded marker: in a code, type or param, or in a message and not as an echo."""
        if marker not in self.text:
            return False
        if not self.failure.request:
            return True
        return any(marker in word for word in self.tokens + self.param_folded) or self.has_message(marker)

    def has_message(self, marker: str) -> bool:
        """Whether a message holds a folded marker, and not as an echo."""
        return self._holds(self.message_folded, marker)

    def has_outer(self, marker: str) -> bool:
        """Whether an outer message holds a folded marker, and not as an echo."""
        return self._holds(_within(self.outer, TEXT_LIMIT), marker)

    def has_body(self, marker: str) -> bool:
        """Whether the body holds a folded marker, and not as an echo."""
        return marker in self.body_folded and not self.echoed(marker, self.body_folded)

    def echoed(self, marker: str, text: str) -> bool:
        """Whether a folded text has a folded marker from the request only."""
        return bool(self.failure.request) and echo.echoed(marker, text, self.request_text)

    def own(self, *texts: str) -> tuple[str, ...] | None:
        """Folded texts without the sentences that the client sent; None where it is known to have sent nothing."""
        if not self.failure.request:
            return None
        return tuple(echo.own(text, self.request_text) for text in texts)

    # --- how it is found

    def _holds(self, texts: tuple[str, ...], marker: str) -> bool:
        return any(marker in text and not self.echoed(marker, text) for text in texts)

    @lazy
    def _seen(self) -> Seen:
        kind = self.headers.get("content-type", "") or ""
        if kind.startswith(FRAMES):
            return see_frames(self.failure.body[:BODY_LIMIT], FRAMES, self.envelopes)
        return see(self.content, self.headers, self.envelopes, self._refused)

    @lazy
    def _account(self) -> Account:
        """What the error says; nothing where there is none, or where the body is part of an answer."""
        seen = self._seen
        if not (self._refused or seen.failed or seen.ending is not None):
            return _NOTHING
        envelopes = self.envelopes
        account = envelopes.read(seen.document, seen.text, self._repeats if self.failure.request else None)
        if seen.ending is not None or self.content.title or not envelopes.headers.keys().isdisjoint(self.headers.index):
            account = self._with_more(account, seen)
        if account.messages or account.codes or account.types or seen.document is MISSING or seen.stream:
            return account
        leaves = (
            unescaped(cleaned(text[:LONGEST_LEAF])) for text in islice(texts(seen.document, DEEPEST_LEAF), MOST_LEAVES)
        )
        return account._replace(messages=tuple(dict.fromkeys(text.strip() for text in leaves if text.strip())))

    def _with_more(self, account: Account, seen: Seen) -> Account:
        """What stands outside the error object: the page's title, how the answer ended, headers."""
        titles = (self.title,) if self.title and self.title not in account.messages else ()
        endings = (seen.ending.word,) if seen.ending is not None else ()
        codes: list[str] = []
        types: list[str] = []
        index = self.headers.index
        for name, role in self.envelopes.headers.items():
            for value in index.get(name, ()):
                word = self.envelopes.bare(cleaned(value.strip())[:LONGEST_LEAF])
                (codes if role == "code" else types).append(word)
        if not (titles or endings or codes or types):
            return account
        return account._replace(
            messages=(*titles, *account.messages),
            codes=tuple(dict.fromkeys((*account.codes, *codes))),
            types=tuple(dict.fromkeys((*endings, *account.types, *types))),
        )

    @lazy
    def _repeats(self) -> Echo | None:
        """Tells the client's words from the upstream's, for those who take the error apart; None without a request."""
        return Echo(self.request_text) if self.failure.request else None


_word = lru_cache(maxsize=1024)(fold)  # codes and types are few, and come again and again


def _within(texts: tuple[str, ...], left: int) -> tuple[str, ...]:
    """The texts, folded, at most `left` characters together, with a line end for each."""
    found: list[str] = []
    for text in texts:
        left -= 1
        if left <= 0:
            break
        text = (fold(text) if text.isascii() else folded(text))[:left]
        found.append(text)
        left -= len(text)
    return tuple(found)


def read(failure: Failure, envelopes: Envelopes, provider: Provider | None = None) -> Reading:
    """The reading of a failure. Costs nothing until something is asked."""
    return Reading(failure, envelopes, provider)
