"""Lines to triples: canonical ones are read, and whatever is read is what the package's own reader makes of it."""

from __future__ import annotations

from itertools import chain

import pyoxigraph as ox
import pytest
from hypothesis import event as note
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.index.running import Reader, examples

from tidings.index.kernels.scan import BLANK, IRI, LITERAL, ODD, READ, TOO_MANY
from tidings.index.names import ALL_BITS, Entries
from tidings.rdf.read import read_triples

XSD = "http://www.w3.org/2001/XMLSchema#"
S, P, OBJECT, G = "<http://e.x/s>", "<http://e.x/p>", "<http://e.x/o>", "<http://e.x/g>"

READER = Reader()


def line(s: str = S, p: str = P, o: str = OBJECT, g: str = G) -> bytes:
    return f"{s} {p} {o} {g} .\n".encode()


IRIS = [
    "<http://e.x/>",
    "<http://e.x>",
    "<http://e.x?q=1&r=(2)#frag>",
    "<http://e.x/a%20b%C3%A9>",
    "<http://e.x/é東\uffef>",
    "<urn:a:b+c,d;e=f@g!$'*~_.-/?>",
    "<a:>",
    "<a1+-.:x>",
    "<mailto:a@e.x>",
    "<http://1.2.3.4/>",
    "<file:///etc>",
    "<http:///>",
    "<x:/a//b>",
    "<urn:x#>",
]
LITERALS = [
    '""',
    '"a"',
    '"a b . <x> _:y @en ^^"',
    r'"\"\\\n\r\t\b\f"',
    '"é東\U0001f600\ue000\ufffd"',
    '"1234567"',
    '"12345678"',
    '"1234567\\""',
    '"a"@en',
    '"a"@en-gb',
    '"a"@de-419',
    '"a"@zh-hans',
    f'"5"^^<{XSD}integer>',
    '"x"^^<http://e.x/é>',
    '"x"^^<a:b>',
]
BLANKS = ["_:b", "_:H", "_:0", "_:_", "_:a.b-c_d", "_:c14n0", "_:a..b", "_:A-"]


@pytest.mark.parametrize("text", [line(s=s) for s in IRIS + BLANKS])
def test_subjects(text: bytes) -> None:
    same_as_the_reader(text)


@pytest.mark.parametrize("text", [line(p=p) for p in IRIS] + [line(g=g) for g in IRIS])
def test_properties_and_graphs(text: bytes) -> None:
    same_as_the_reader(text)


@pytest.mark.parametrize("text", [line(o=o) for o in IRIS + BLANKS + LITERALS])
def test_objects(text: bytes) -> None:
    same_as_the_reader(text)


def same_as_the_reader(text: bytes) -> None:
    events = READER.read_all(text)
    assert events is not None
    assert list(chain.from_iterable(events)) == list(read_triples(text, format="nq"))


def test_kinds_numbers_and_ends() -> None:
    known = Entries(ALL_BITS)
    for term in (OBJECT, P, '"a\\""@en'):
        known.number(term)
    reader = Reader(known.table())
    text = line(o='"a\\""@en') + line(s="_:b") + line(s="_:b", o='"5"') + line(s=OBJECT, p=S, o="_:b")
    assert reader.read(text)[:2] == (READ, len(text))
    terms = [S, P, '"a\\""@en', "_:b", OBJECT, '"5"']
    spans = zip(reader.terms.start[:6].tolist(), reader.terms.end[:6].tolist(), strict=True)
    assert [text[first:last].decode() for first, last in spans] == terms
    assert reader.terms.kind[:6].tolist() == [IRI, IRI, LITERAL, BLANK, IRI, LITERAL]
    assert reader.terms.id[:6].tolist() == [-1, 1, 2, -1, 0, -1]
    ends = [int(end) for end in reader.terms.text_end[:6]]
    assert ends[:2] + ends[3:5] == [-1] * 4
    assert [text[end : end + 1] for end in (ends[2], ends[5])] == [b'"', b'"']
    assert list(zip(*(each[:4].tolist() for each in reader.triples), strict=True)) == [
        (0, 1, 2),
        (3, 1, 4),
        (3, 1, 5),
        (4, 0, 3),
    ]
    assert set(reader.terms.slots.tolist()) == {-1}


@pytest.mark.parametrize("weak", [0, 1, 0xFF])
def test_terms_with_the_same_hash_are_two(weak: int) -> None:
    known = Entries(weak)
    for number in range(20):
        known.number(f"<http://e.x/{number}>")
    reader = Reader(known.table())
    text = b"".join(line(s=f"<http://e.x/{n}>", o=f"<http://e.x/{n + 10}>") for n in range(20))
    status, _, triples = reader.read(text)
    assert (status, triples) == (READ, list(read_triples(text, format="nq")))
    ids = {reader.read(line(s=f"<http://e.x/{n}>"))[0] or int(reader.terms.id[0]) for n in range(20)}
    assert ids == set(range(20))


def test_an_event_ends_where_another_graph_begins() -> None:
    text = line() + line(o='"2"') + line(g="<http://e.x/h>") + line(g="<http://e.x/gg>") + line(g="<http://e.x/g>")
    events = READER.read_all(text)
    assert events is not None
    assert [len(event) for event in events] == [2, 1, 1, 1]
    assert list(chain.from_iterable(events)) == list(read_triples(text, format="nq"))


def test_triples_are_read_to_the_end() -> None:
    text = b"".join(each.replace(f" {G}".encode(), b"") for each in (line(), line(s="_:b"), line(o='"x"@en')))
    for trusted in (False, True):
        status, next, triples = READER.read(text, trusted=trusted, quads=False)
        assert (status, next, triples) == (READ, len(text), list(read_triples(text, format="nt")))
    assert READER.read(line(), quads=False)[0] == ODD
    assert READER.read(text)[0] == ODD


def test_what_the_package_wrote_is_trusted() -> None:
    """Escapes that are canonical for some characters, and IRIs that look odd and are valid."""
    for o in (r'"\u0000\u001F\u007F\uFFFE"', "<http://u@e.x:80/>", "<http://[::1]/>", "<http://e.x/\U0001f600>"):
        text = line(o=o)
        assert READER.read(text)[0] == ODD
        assert READER.read(text, trusted=True)[0] == READ
        same = READER.read(text, trusted=True)[2]
        assert same == list(read_triples(text, format="nq"))


def test_room() -> None:
    text = b"".join(line(o=f'"{n}"') for n in range(10))
    for room in (4, 8, 16, 32):
        reader = Reader(room=room)
        status, _, triples = reader.read(text)
        assert (status, len(triples)) in ((TOO_MANY, 0), (READ, 10))
        assert set(reader.terms.slots.tolist()) == {-1}
    assert status == READ


# ------------------------------------------------------------------------------------------------------------ odd lines

ODD_LINES = [
    line().replace(b" ", b"\t"),
    line().replace(b" .", b"."),
    line().replace(b" .\n", b" . \n"),
    line().replace(b" .\n", b" .\r\n"),
    line().replace(b" .\n", b" .# comment\n"),
    line().replace(b" .\n", b" ."),
    line().replace(b" .\n", b"\n"),
    line().replace(b" .\n", b" ..\n"),
    line(p=f" {P}"),
    b" " + line(),
    b"# comment\n",
    b"\n",
    b"\r\n",
    b"\xef\xbb\xbf" + line(),
    b"\x00" + line(),
    line(g="_:g"),
    line(g='"g"'),
    line(g="").replace(b"  .", b" ."),
    line(g=f"{G} {G}"),
    line(s='"s"'),
    line(p="_:p"),
    line(p='"p"'),
    line(o="5"),
    line(o="true"),
    line(o="'x'"),
    line(o='"""x"""'),
    line(o='"x'),
    line(o='x"'),
    line(o='"x" @en'),
    line(o='"x"@'),
    line(o='"x"@EN'),
    line(o='"x"@en-GB'),
    line(o='"x"@en_gb'),
    line(o='"x"@en-'),
    line(o='"x"@-en'),
    line(o='"x"@e9'),
    line(o='"x"@en--gb'),
    line(o='"x"@en--ltr'),
    line(o='"x"@abcdefghi'),
    line(o='"x"@en-abcdefghi'),
    line(o='"x"@en@de'),
    line(o=f'"x"^^<{XSD}string>'),
    line(o='"x"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>'),
    line(o=f'"x"^<{XSD}int>'),
    line(o='"x"^^xsd:int'),
    line(o='"x"^^_:b'),
    line(o='"x"^^<int>'),
    line(o=f'"x"^^ <{XSD}int>'),
    line(o=r'"\u0041"'),
    line(o=r'"\U00000041"'),
    line(o=r'"\u00e9"'),
    line(o=r'"\uFFFE"'),
    line(o=r'"\x"'),
    line(o=r"""'\''"""),
    line(o=r'"\'"'),
    line(o='"a\tb"'),
    line(o='"a\x00b"'),
    line(o='"a\x7fb"'),
    line(o='"a\nb"'),
    line(o='"a\rb"'),
    line(o='"a\ufffeb"'),
    line(o='"a\uffffb"'),
    line(o='"aaaaaaaa\x1fbbbbbbbb"'),
    line(o='"') + b'"',
    line(s="<s>"),
    line(s="</s>"),
    line(s="<>"),
    line(s="<//e.x/s>"),
    line(s="<:a>"),
    line(s="<1a:b>"),
    line(s="<é:b>"),
    line(s="<a_b:c>"),
    line(s="<http://e.x/a b>"),
    line(s="<http://e.x/%>"),
    line(s="<http://e.x/%2>"),
    line(s="<http://e.x/%zz>"),
    line(s="<http://e.x/%é>"),
    line(s="<http://e.x/#a#b>"),
    line(s="<http://e.x/[a]>"),
    line(s="<http://[::1]/>"),
    line(s="<http://[/>"),
    line(s="<http://e.x:80/>"),
    line(s="<http://e.x:port/>"),
    line(s="<http://u:p@e.x/>"),
    line(s="<http://u@v@e.x/>"),
    line(s="<http://é.x/>"),
    line(s=r"<http://e.x/\u0041>"),
    line(s=r"<http://e.x/\u003E>"),
    line(s="<http://e.x/\\>"),
    line(s="<http://e.x/{a}>"),
    line(s="<http://e.x/a|b>"),
    line(s="<http://e.x/^>"),
    line(s="<http://e.x/`>"),
    line(s='<http://e.x/">'),
    line(s="<http://e.x/<>"),
    line(s="<http://e.x/\x7f>"),
    line(s="<http://e.x/\x80>"),
    line(s="<http://e.x/\x9f>"),
    line(s="<http://e.x/\ue000>"),
    line(s="<http://e.x/\ufdd0>"),
    line(s="<http://e.x/\ufff0>"),
    line(s="<http://e.x/\U000e0001>"),
    line(s="<http://e.x/s"),
    line(s="_:"),
    line(s="_:.a"),
    line(s="_:a."),
    line(s="_:-a"),
    line(s="_:é"),
    line(s="_:a:b"),
    line(s="_b"),
    line(s="<<( <a:a> <a:b> <a:c> )>>"),
    line(o="<<( <a:a> <a:b> <a:c> )>>"),
    line(o='"\xff"').replace("\xff".encode(), b"\xff"),
    line(o='"X"').replace(b"X", b"\xc0\x80"),
    line(o='"X"').replace(b"X", b"\xed\xa0\x80"),
    line(o='"X"').replace(b"X", b"\xf4\x90\x80\x80"),
    line(o='"X"').replace(b"X", b"\xe0\x80\x80"),
    line(o='"X"').replace(b"X", b"\xc3"),
    line(o='"X').replace(b"X", b"\xc3"),
    line(s="<http://e.x/X>").replace(b"X", b"\xc3"),
    line(s="<http://e.x/X>").replace(b"X", b"\x80"),
    line(s="_:X").replace(b"X", b"\xc3\xa9"),
    b"<",
    b"_",
    b"<http://e.x/s> <http://e.x/p> ",
    b'<http://e.x/s> <http://e.x/p> "',
    b"<http://e.x/s> <http://e.x/p> _:",
    b"GRAPH " + line(),
    b"@prefix : <http://e.x/> .\n",
]


@pytest.mark.parametrize("text", ODD_LINES)
def test_odd_lines_are_left_to_others(text: bytes) -> None:
    assert READER.read(text) == (ODD, 0, [])
    good = line(o='"before"')
    assert READER.read(good + text)[:2] in ((ODD, len(good)), (READ, len(good)))
    assert READER.read_all(good + text) is None


TAGS = "en aa abcd abcde abcdefgh en-x-a x-a i-klingon en-1996 de-1996-1996 en-latn-us"
TAGS += (
    " en-a-bbb en-a-bbb-a-ccc zh-min-nan art-lojban en-gb-oed aa-000 aa-0000 aa-00000 sl-rozaj-1994 sgn-be-fr qaa-x-y"
)
NO_TAGS = "a en-a en-x en-1 en-12 en-us-us en-us-latn en-u-a a-b-c-d zh-yue-yue-yue-yue aa-0 aa-00 abc-def-ghi-jkl-mno"


@pytest.mark.parametrize("tag", TAGS.split())
def test_language_tags(tag: str) -> None:
    never_wrong(line(o=f'"x"@{tag}'))


@pytest.mark.parametrize("tag", NO_TAGS.split())
def test_language_tags_that_are_none(tag: str) -> None:
    assert READER.read(line(o=f'"x"@{tag}'))[0] == ODD


# ------------------------------------------------------------------------------------------------------------ mutations

VALID = [line(s=s, o=o) for s in IRIS[:5] + BLANKS[:3] for o in IRIS[::3] + BLANKS[::3] + LITERALS]
PIECES = [bytes([n]) for n in range(256)]
PIECES += [each.encode() for each in (*IRIS, *BLANKS, *LITERALS, " ", "  ", "\n", " .\n", "é", "\u0085", "\u2028")]
PIECES += [b"@en-a", b"^^", rb"\u0041", rb"\"", b"%41", b"%", b"://", b"<<", b"--ltr", b"#", b"\xed\xa0\x80", b"\xc3"]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    text = bytearray(b"".join(draw(st.lists(st.sampled_from(VALID), min_size=1, max_size=3))))
    for _ in range(draw(st.integers(1, 3))):
        first = draw(st.integers(0, len(text)))
        last = min(len(text), first + draw(st.sampled_from([0, 0, 1, 1, 2, 5, 20])))
        text[first:last] = draw(st.sampled_from(PIECES))
    return bytes(text)


def never_wrong(text: bytes) -> bool:
    """Whether the lines are read; if so, as everybody reads them."""
    events = READER.read_all(text)
    if events is None:
        return False
    quads = list(ox.parse(text, ox.RdfFormat.N_QUADS))
    assert list(chain.from_iterable(events)) == list(read_triples(text, format="nq")), text
    graphs = [quad.graph_name for quad in quads]
    changes = [n for n in range(1, len(graphs)) if graphs[n] != graphs[n - 1]]
    bounds = list(zip([0, *changes], [*changes, len(graphs)], strict=True))
    assert [len(event) for event in events] == [last - first for first, last in bounds], text
    return True


@examples(1500)
@given(mutated())
def test_mutations_are_read_rightly_or_not_at_all(text: bytes) -> None:
    note(f"read: {never_wrong(text)}")


@examples(1000)
@given(st.sampled_from(['"{}"', '"a"@{}', '"a"^^<{}>', "<{}>", "<http://{}>", "<http://e.x/{}>", "_:{}"]), st.data())
def test_terms_are_read_rightly_or_not_at_all(shape: str, data: st.DataObject) -> None:
    inside = data.draw(st.text(st.one_of(st.sampled_from('aB1-._:/?#[]@%\\"ué東 '), st.characters()), max_size=12))
    text = line(o=shape.format(inside.encode("utf-8", "replace").decode()))
    note(f"read: {never_wrong(text)}")


def test_enough_is_read() -> None:
    assert all(never_wrong(text) for text in VALID)
