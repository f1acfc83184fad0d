"""RDF: terms, events, and the way from documents to events.

terms, event          what everything else is made of: canonical N-Triples text
formats, limits       which formats there are, how much is taken at most
sources               files, folders, globs, stdin, bytes → documents → bytes
lines, whole          documents → runs of triples: line by line, or all or nothing
guard, guard_xml,     ... with bounds that hold before a parser sees the bytes
  jsonld
group                 graphs that come apart brought together, on disk
by_graph, by_subject, runs → drafts of events
  by_nanopub
finish                drafts → events: blank node labels, id, strict mode, known already?
canonical, identity   RDFC-1.0, the id of an event without a name
objects               pyoxigraph quads and rdflib graphs
read                  all of it: `read_events`, `read_triples`, `events_of`
"""
