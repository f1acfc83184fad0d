"""The matchers by name. A new one is one file and one line here; none is imported before it is asked for."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from typing import Any, cast

from tidings.errors import UsageError
from tidings.match.base import Engine
from tidings.ontology import Ontology

DEFAULT = "fast"
"""The one that is taken where none is named."""

_ENGINES = {
    "naive": "tidings.match.naive:Naive",
    "ops": "tidings.match.ops:Ops",
    "gtopss": "tidings.match.gtopss:Gtopss",
    "decomposition": "tidings.match.decomposition:Decomposition",
    "rtfm": "tidings.match.rtf.matcher:Rtfm",
    "rtfs": "tidings.match.rtf.matcher:Rtfs",
    "ibroker": "tidings.match.ibroker:Ibroker",
    "fast": "tidings.match.fast:Fast",
}


def names() -> tuple[str, ...]:
    """The names that `create` knows."""
    return tuple(_ENGINES)


def create(name: str, ontology: Ontology, **options: Any) -> Engine:
    """The matcher of this name, empty; `options` are those of its constructor."""
    place = _ENGINES.get(name)
    if place is None:
        raise UsageError(f"there is no matcher '{name}'; there are: {', '.join(names())}")
    module, _, attribute = place.partition(":")
    factory = getattr(import_module(module), attribute)
    try:
        signature(factory).bind(ontology, **options)
    except TypeError as error:
        raise UsageError(f"the matcher '{name}' does not take these options: {error}") from None
    return cast(Engine, factory(ontology, **options))
