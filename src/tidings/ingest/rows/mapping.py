"""Which kind of mapping a user gives, and what he says beside it: classes and the home vertex."""

from __future__ import annotations

from dataclasses import replace

from tidings.errors import UsageError
from tidings.ingest.base import How
from tidings.ingest.rows.direct import identifier
from tidings.ingest.rows.form import Kind, Line, RowMap, constant
from tidings.rdf.formats import Format
from tidings.rdf.terms import HOME, RDF_TYPE, iri

CSVW = "csvw"
_NAMES = ("rml", "r2rml")


def written_in(how: How) -> str | None:
    """`csvw`, or the RDF format that an R2RML or RML mapping is in; None where there is no mapping."""
    if how.mapping is None:
        return None
    name = how.mapping_format
    if name is None:
        return CSVW if how.mapping.lstrip().startswith(b"{") else "turtle"
    if name.lower() == CSVW:
        return CSVW
    if name.lower() in _NAMES:
        return "turtle"
    try:
        Format.of(name)
    except UsageError as error:
        formats = f"{CSVW}, {', '.join(_NAMES)} (in Turtle), or an RDF format that R2RML or RML is written in"
        raise UsageError(f"'{name}' is no format of a mapping; it is one of {formats}") from error
    return name


def finished(form: RowMap, how: How) -> RowMap:
    """The form with the classes of `how`, and with its subject as the home vertex if that is asked for."""
    if not how.classes and not how.home:
        return form
    subjects = {line.subject for line in form.lines}
    if len(subjects) != 1:
        what = "the home vertex" if how.home else "of the classes"
        raise UsageError(
            f"records of this mapping have {len(subjects)} subjects, so none can be {what}: say it in the mapping"
        )
    (subject,) = subjects
    lines = [*form.lines, *(Line(subject, constant(RDF_TYPE), constant(iri(each))) for each in how.classes)]
    if how.home:
        home = constant(HOME)
        lines = [replace(line, subject=home) for line in lines]
        if subject.kind is Kind.IRI:
            lines.append(identifier(subject))
    return replace(form, lines=tuple(lines))
