"""What is said of an item or a channel, as lines of N-Triples whose subject is known only at the end."""

from __future__ import annotations

from collections.abc import Iterable

from tidings.ingest.feeds import names
from tidings.ingest.feeds.links import absolute, below, shown
from tidings.rdf.terms import RDF_TYPE, XSD_DATETIME, XSD_INTEGER, Term, escape

_TYPE = f"{RDF_TYPE} "
_SURROGATES = dict.fromkeys(range(55296, 57344), "�")


class Facts:
    """Predicates with their objects, and whole lines about the nodes among these. `base` resolves addresses."""

    __slots__ = ("_base", "_nodes", "_own")

    def __init__(self, base: str | None) -> None:
        self._base = base
        self._own: list[str] = []
        self._nodes: list[str] = []

    def lines(self, subject: str) -> list[str]:
        """All of it, with its subject, as lines of canonical N-Triples; some may be there twice."""
        return [f"{subject} {fact} .\n" for fact in self._own] + self._nodes

    def longest(self) -> int:
        return max(map(len, self._own + self._nodes), default=0)

    def type(self, *classes: str) -> None:
        self._own += [_TYPE + name for name in classes]

    def term(self, property: Term, term: str) -> None:
        self._own.append(f"{property} {term}")

    def line(self, subject: Term, property: Term, term: Term) -> None:
        """A triple about another node."""
        self._nodes.append(f"{subject} {property} {term} .\n")

    def text(self, property: Term, text: object) -> None:
        """A plain string, as it is; nothing where it is empty or none."""
        if text and isinstance(text, str):
            self._own.append(f'{property} "{escape(text)}"')

    def address(self, property: Term, text: object) -> None:
        """An address as a string, as `rss:link` has it in RSS 1.0."""
        if text and isinstance(text, str):
            self.text(property, shown(text, self._base))

    def date(self, property: Term, text: object, stamp: str | None) -> None:
        """A time in UTC where it could be read, else what was written."""
        if stamp is not None:
            self._own.append(f'{property} "{stamp}"^^<{XSD_DATETIME}>')
        else:
            self.text(property, text)

    def node(self, property: Term, address: object, kind: Term, facts: Iterable[tuple[Term, object]] = ()) -> bool:
        """A thing with an IRI, of a class, and texts about it; False where the address is none."""
        found = absolute(address, self._base) if isinstance(address, str) else None
        if found is None:
            return False
        self.linked(property, f"<{found}>", kind)
        for said, text in facts:
            if text and isinstance(text, str):
                self._nodes.append(f'<{found}> {said} "{escape(text)}" .\n')
        return True

    def linked(self, property: Term, node: str, kind: Term) -> None:
        self._own.append(f"{property} {node}")
        self._nodes.append(f"{node} {_TYPE}{kind} .\n")

    def person(self, literal: Term, property: Term, name: object, mail: object, address: object) -> None:
        """Somebody: a string, and a node where he has an address or mail."""
        self.text(literal, name or mail or address)
        mailbox = absolute(f"mailto:{mail}", None) if mail and isinstance(mail, str) and "@" in mail else None
        if not self.node(property, address, names.AGENT, [(names.NAME, name)]):
            if mailbox is None:
                return
            self.node(property, mailbox, names.AGENT, [(names.NAME, name)])
            address = mailbox
        if mailbox is not None and isinstance(address, str):
            self._nodes.append(f"<{absolute(address, self._base)}> {names.MBOX} <{mailbox}> .\n")

    def category(self, term: object, scheme: object, label: object) -> None:
        """A string, and a concept where there is a scheme, so that a taxonomy can say more of it."""
        self.text(names.SUBJECT, label or term)
        if not isinstance(term, str) or not term:
            return
        if label and label != term:
            self.text(names.SUBJECT, term)
        if found := below(scheme if isinstance(scheme, str) else "", term):
            self.node(names.SUBJECT_NODE, found, names.CONCEPT, [(names.LABEL, label or term)])

    def enclosure(self, address: object, media_type: object, length: object) -> None:
        if self.node(names.ENCLOSURE, address, names.ENCLOSURE_CLASS, [(names.ENCLOSURE_TYPE, media_type)]):
            digits = str(length).strip() if isinstance(length, str | int) else ""
            if digits.isascii() and digits.isdigit() and len(digits) < 20 and isinstance(address, str):
                found = absolute(address, self._base)
                self._nodes.append(f'<{found}> {names.ENCLOSURE_LENGTH} "{int(digits)}"^^<{XSD_INTEGER}> .\n')
