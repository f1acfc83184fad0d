"""Trees: JSON and XML become events, a record each.

paths.py          which parts of a tree are records, and what a reference in one stands for
json_records.py   the records of a JSON document, as a stream
xml_records.py    the records of an XML document, as a stream
naming.py         IRIs below the base, subjects from keys, the home vertex
facade.py         a record as triples: the direct mapping (Facade-X)
context.py        a JSON record as triples by a JSON-LD context
json_events.py, xml_events.py   the converters
records.py        records as mappings from references to values, for RML
"""
