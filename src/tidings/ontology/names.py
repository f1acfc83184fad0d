"""Names for people: a short form for messages, and the known name that an unknown one was probably meant to be."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Final

from tidings.rdf.terms import DAML, OWL, RDF, RDFS, XSD, Term, is_iri

PREFIXES: Final = {
    RDF: "rdf",
    RDFS: "rdfs",
    OWL: "owl",
    XSD: "xsd",
    DAML: "daml",
    "http://example.org/": "ex",
    "http://example.com/": "ex",
    "http://dbpedia.org/ontology/": "dbo",
    "http://dbpedia.org/resource/": "dbr",
    "http://dbpedia.org/property/": "dbp",
    "http://dbpedia.org/datatype/": "dbt",
    "http://schema.org/": "schema",
    "https://schema.org/": "schema",
    "http://xmlns.com/foaf/0.1/": "foaf",
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://purl.org/dc/terms/": "dcterms",
    "http://www.w3.org/2004/02/skos/core#": "skos",
    "http://www.w3.org/ns/prov#": "prov",
    "http://www.w3.org/ns/sosa/": "sosa",
    "http://www.w3.org/ns/ssn/": "ssn",
    "https://www.w3.org/ns/activitystreams#": "as",
    "http://www.wikidata.org/entity/": "wd",
    "http://www.w3.org/2003/01/geo/wgs84_pos#": "geo",
}

_LOCAL = re.compile(r"[\w][\w.-]*")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_MAX_ANSWERS = 10_000


def split(name: Term) -> tuple[str, str]:
    """Namespace and local name of an IRI: cut after the last `#`, `/` or, in a URN, `:`."""
    text = name[1:-1]
    cut = max(text.rfind("#"), text.rfind("/")) + 1 or text.rfind(":") + 1
    return text[:cut], text[cut:]


class Labels:
    """Short forms, `prefix:local`. A document's own prefixes do not survive its parsing: well-known ones are used, and
    the namespaces of the ontology get one from their last word. A name of another namespace is given as its local name.
    """

    def __init__(self, names: Iterable[Term]) -> None:
        self._prefixes = dict(PREFIXES)
        taken = set(PREFIXES.values())
        found = Counter(split(name)[0] for name in names)
        for namespace, _ in sorted(found.items(), key=lambda item: (-item[1], item[0])):
            prefix = _guess(namespace)
            if namespace not in self._prefixes and prefix and prefix not in taken:
                self._prefixes[namespace] = prefix
                taken.add(prefix)

    def label(self, name: Term) -> str:
        """The short form of an IRI; any other term, and an IRI that has none, as it is."""
        if not is_iri(name):
            return name
        namespace, local = split(name)
        if not _LOCAL.fullmatch(local):
            return name
        prefix = self._prefixes.get(namespace)
        return f"{prefix}:{local}" if prefix else local


def _guess(namespace: str) -> str | None:
    words = [word for word in re.split(r"[/#.:]+", namespace) if _WORD.fullmatch(word)]
    useful = [
        w for w in words[1:] if w.lower() not in ("www", "org", "com", "net", "owl", "rdf", "ttl", "ns", "ontology")
    ]
    return useful[-1].lower() if useful else None


class Near:
    """Finds the known name nearest to a wrong one, by its local name, whatever the case and without `-` and `_`.

    The known names wait by the length of their key, and most of them are passed over by the letters that occur.
    """

    def __init__(self, names: Iterable[Term]) -> None:
        self._by_length: dict[int, list[tuple[str, int, Term]]] = defaultdict(list)
        for name in names:
            key = _key(name)
            self._by_length[len(key)].append((key, _letters(key), name))
        self._answers: dict[Term, Term | None] = {}

    def find(self, wrong: Term) -> Term | None:
        """The nearest name, or None if none is near; a name of the same namespace counts as nearer by one letter."""
        try:
            return self._answers[wrong]
        except KeyError:
            found = self._search(wrong)
        if len(self._answers) >= _MAX_ANSWERS:
            self._answers.clear()
        self._answers[wrong] = found
        return found

    def _search(self, wrong: Term) -> Term | None:
        if not is_iri(wrong) or not _key(wrong):
            return None
        namespace, key = split(wrong)[0], _key(wrong)
        letters = _letters(key)
        most = _tolerance(key)
        best: tuple[int, int, Term] | None = None
        for length in sorted(range(len(key) - most, len(key) + most + 1), key=lambda n: abs(n - len(key))):
            for known, known_letters, name in self._by_length.get(length, ()):
                # An edit takes at most one letter out of the set of those that occur, and brings at most one in.
                if (letters & ~known_letters).bit_count() > most or (known_letters & ~letters).bit_count() > most:
                    continue
                distance = _distance(key, known, most)
                if distance <= most and name != wrong:
                    apart = _apart(namespace, split(name)[0])
                    found = (distance + (apart > 0), apart, name)
                    best = min(best, found) if best else found
                    most = min(most, best[0])
        return best[2] if best else None


def _key(name: Term) -> str:
    return split(name)[1].casefold().replace("_", "").replace("-", "")[:100]


def _apart(a: str, b: str) -> int:
    """0 for the same namespace, 1 for one that may be a slip (http for https, a letter), 2 for another one."""
    return 0 if a == b else 1 if _distance(a[:200], b[:200], 2) <= 2 else 2


def _letters(key: str) -> int:
    bits = 0
    for letter in key:
        bits |= 1 << (ord(letter) & 63)
    return bits


def _tolerance(key: str) -> int:
    """How many edits still make a near name."""
    return bisect_right((3, 6, 10), len(key))


def _distance(a: str, b: str, most: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours that make b of a; anything above `most` if more."""
    before: list[int] = []
    last: list[int] = []
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        before, last, row = last, row, [i]
        for j, other in enumerate(b, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        # A swap reaches back two rows, so both must be beyond hope.
        if min(row) > most and min(last) > most:
            return most + 1
    return row[-1]
