"""What somebody may say of how a feed becomes events."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace

from tidings.errors import UsageError
from tidings.ingest.base import How
from tidings.rdf.limits import DEFAULT_LIMITS

IRI = r"^[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\\x7f-\x9f\u2028\u2029\ud800-\udfff]*$"
CHARSETS = ("utf-8", "utf-16", "iso-8859-1", "iso-8859-2", "iso-8859-15", "windows-1250", "windows-1251",
            "windows-1252", "koi8-r", "euc-jp", "shift_jis", "euc-kr", "gb18030", "big5")  # fmt: skip
MOST = 32
LONGEST = 2_000


@dataclass(frozen=True, slots=True)
class FeedOptions:
    """`classes` and `home` as in `ingest.base.How`; `charset` where its server says a wrong one."""

    classes: tuple[str, ...] | None = None
    home: bool | None = None
    charset: str | None = None

    @staticmethod
    def of(given: Mapping[str, object]) -> FeedOptions:
        """A `UsageError` says what is wrong with them."""
        known = {field.name for field in fields(FeedOptions)}
        for name in given:
            if name not in known:
                raise UsageError(f"there is no option '{name}'; there are {', '.join(sorted(known))}")
        home, charset = given.get("home"), given.get("charset")
        if home is not None and not isinstance(home, bool):
            raise UsageError(f"'home' is true or false, and not {home!r:.100}")
        if charset is not None and charset not in CHARSETS:
            raise UsageError(f"'charset' is one of {', '.join(CHARSETS)}, and not {charset!r:.100}")
        return FeedOptions(_classes(given.get("classes")), home, None if charset is None else str(charset))

    def told(self) -> dict[str, object]:
        """What is given, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def to_json(self) -> str:
        return json.dumps(self.told(), sort_keys=True)

    @staticmethod
    def of_json(text: str) -> FeedOptions:
        return FeedOptions.of(json.loads(text))

    def how(self, content_type: str | None, most: int) -> How:
        """For a document of which its server says that it is of this type, and that may have so many bytes."""
        charset = self.charset or _charset(content_type or "")
        given = {} if charset is None else {"charset": charset}
        limits = replace(DEFAULT_LIMITS, max_document=most)
        return How(classes=self.classes or (), home=self.home or False, limits=limits, options=given)


def _classes(given: object) -> tuple[str, ...] | None:
    if given is None:
        return None
    if not isinstance(given, list | tuple) or len(given) > MOST:
        raise UsageError(f"'classes' is a list of up to {MOST} IRIs")
    for each in given:
        if not isinstance(each, str) or len(each) > LONGEST or not re.match(IRI, each):
            raise UsageError(f"a class is an IRI, such as http://example.org/News, and not {each!r:.100}")
    return tuple(given)


def _charset(content_type: str) -> str | None:
    found = re.search(r"""(?i);\s*charset\s*=\s*["']?([A-Za-z0-9_.:-]{1,40})""", content_type)
    if found is None:
        return None
    try:
        return codecs.lookup(found[1]).name
    except LookupError:
        return None
