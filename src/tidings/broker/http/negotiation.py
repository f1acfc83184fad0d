"""Which of several formats somebody would rather have."""

from __future__ import annotations

from http import HTTPStatus

from tidings.broker.http.problems import Problem
from tidings.rdf.formats import Format

_ORDER = (Format.TRIG, Format.NQ, Format.TTL, Format.NT, Format.JSONLD, Format.RDF)


def negotiated(accept: str | None, usual: Format = Format.TRIG) -> Format:
    """The RDF format that is asked for, most wanted first; the usual one where anything will do."""
    if accept is None or not accept.strip():
        return usual
    wanted = sorted((_weighed(each) for each in accept.split(",")), key=lambda pair: -pair[1])
    for kind, weight in wanted:
        if weight <= 0:
            continue
        if kind in ("*/*", "application/*"):
            return usual
        if kind == "text/*":
            return Format.TTL
        found = Format.of_media_type(kind)
        if found is not None:
            return found
    offered = ", ".join(format.media_type for format in _ORDER)
    raise Problem(HTTPStatus.NOT_ACCEPTABLE, f"it can be had as {offered}")


def wants(accept: str | None, kind: str) -> bool:
    """Whether this kind is asked for by its name, which is how one asks for what is not the usual."""
    return accept is not None and any(each == kind and weight > 0 for each, weight in map(_weighed, accept.split(",")))


def wants_stream(accept: str | None) -> bool:
    """Whether what comes is wanted as it comes, and not only what there is."""
    return wants(accept, "text/event-stream")


def _weighed(part: str) -> tuple[str, float]:
    kind, *parameters = (each.strip().lower() for each in part.split(";"))
    for each in parameters:
        name, _, value = each.partition("=")
        if name == "q":
            try:
                return kind, float(value)
            except ValueError:
                return kind, 0.0
    return kind, 1.0
