"""`fast` as it changes: live and frozen parts, merges in the background, other ontologies, snapshots."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tidings.errors import SnapshotError
from tidings.index.arrays import Bytes, Ints
from tidings.index.store import Store
from tidings.lang import parse, to_text
from tidings.lang.lexer import MAX_LENGTH
from tidings.match.base import Failure
from tidings.match.fast import Fast, parts
from tidings.match.fast.locks import SharedLock
from tidings.match.fast.renewal import different
from tidings.match.naive import Naive
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import parse_triple

X = "http://x/"
SUB = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
SUBPROPERTY = "<http://www.w3.org/2000/01/rdf-schema#subPropertyOf>"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def refuse(failure: Failure) -> None:
    raise AssertionError(failure)


def event(*lines: str) -> Event:
    return Event("http://x/event", "".join(f"{line} .\n" for line in sorted(lines)))


def ontology(*lines: str) -> Ontology:
    return Ontology.of(parse_triple(f"{line} .") for line in lines)


def ids(engine: Fast | Naive, about: Event) -> list[str]:
    return [match.subscription for match in engine.match(about, refuse)]


def query(text: str, dialect: str = "sparql"):
    return parse(text, dialect)


NUMBERED = [event(f"<{X}s> <{X}p{n}> <{X}o{n % 3}>") for n in range(40)]


def numbered(n: int) -> str:
    return f"SELECT ?s {{ ?s <{X}p{n}> <{X}o{n % 3}> }}"


class TestParts:
    def test_what_is_added_and_removed_is_seen_at_once_before_and_after_a_merge(self) -> None:
        engine = Fast(Ontology.empty(), merge_at=10**9)
        for n in range(20):
            engine.add(f"s{n}", query(numbered(n)))
            assert ids(engine, NUMBERED[n]) == [f"s{n}"]
        engine.remove("s3")
        engine.merge()
        assert len(engine) == 19
        assert "s3" not in engine
        assert "s4" in engine
        engine.remove("s4")
        engine.add("s20", query(numbered(20)))
        engine.add("s5", query(numbered(25)))
        assert [ids(engine, NUMBERED[n]) for n in (3, 4, 5, 6, 20, 25)] == [[], [], [], ["s6"], ["s20"], ["s5"]]
        engine.merge()
        assert [ids(engine, NUMBERED[n]) for n in (3, 4, 5, 6, 20, 25)] == [[], [], [], ["s6"], ["s20"], ["s5"]]
        assert len(engine) == 19
        assert engine.stats()["live"] == 0

    def test_a_matcher_of_nothing_matches_nothing_merged_or_not(self) -> None:
        engine = Fast(Ontology.empty())
        assert ids(engine, NUMBERED[0]) == []
        assert len(engine) == 0
        engine.merge()
        assert ids(engine, NUMBERED[0]) == []

    def test_removing_what_is_not_there_is_a_key_error(self) -> None:
        engine = Fast(Ontology.empty())
        with pytest.raises(KeyError, match="nobody"):
            engine.remove("nobody")

    def test_a_match_keeps_its_answer_when_the_subscription_goes(self) -> None:
        engine = Fast(Ontology.empty())
        engine.add("s1", query(numbered(1)))
        (live,) = engine.match(NUMBERED[1], refuse)
        engine.remove("s1")
        engine.add("s1", query(numbered(1)))
        engine.merge()
        (frozen,) = engine.match(NUMBERED[1], refuse)
        engine.remove("s1")
        assert live.bindings == frozen.bindings == ({"s": f"<{X}s>"},)

    def test_merges_run_in_the_background_while_subscriptions_come_and_go(self) -> None:
        engine = Fast(Ontology.empty(), merge_at=10)
        there: dict[str, int] = {}
        for n in range(400):
            engine.add(f"s{n}", query(numbered(n % 40)))
            there[f"s{n}"] = n % 40
            if n % 3 == 2:
                gone = f"s{n // 2}"
                if there.pop(gone, None) is not None:
                    engine.remove(gone)
            if n % 10 == 0:
                wanted = n % 40
                assert ids(engine, NUMBERED[wanted]) == sorted(id for id, p in there.items() if p == wanted)
        engine.merge()
        assert engine.stats()["merges"] > 1
        assert len(engine) == len(there)
        for wanted in range(40):
            assert ids(engine, NUMBERED[wanted]) == sorted(id for id, p in there.items() if p == wanted)

    def test_what_is_taken_out_while_it_is_merged(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Between the order of the rows and that of the rules. It was then a row of the last rule that there was."""
        engine = Fast(Ontology.empty())
        for n in range(30):
            engine.add(f"s{n}", query(numbered(n)))
        inner = Store._row_order

        def then_remove(store: Store, alive: Bytes) -> Ints:
            rows = inner(store, alive)
            engine.remove("s10")
            return rows

        monkeypatch.setattr(Store, "_row_order", then_remove)
        engine.merge()
        assert len(engine) == 29
        for n in range(30):
            assert ids(engine, NUMBERED[n]) == ([] if n == 10 else [f"s{n}"])

    def test_dead_subscriptions_leave_the_arrays_at_a_merge(self) -> None:
        engine = Fast(Ontology.empty())
        for n in range(30):
            engine.add(f"s{n}", query(numbered(n)))
        engine.merge()
        for n in range(29):
            engine.remove(f"s{n}")
        assert engine.stats()["rules"] == 30
        engine.merge()
        assert engine.stats()["rules"] == 1
        assert ids(engine, NUMBERED[29]) == ["s29"]

    def test_many_threads_match_while_one_changes(self) -> None:
        engine = Fast(Ontology.empty(), merge_at=20)
        engine.add_many((f"stays{n}", query(numbered(n))) for n in range(40))
        wrong: list[object] = []
        done = threading.Event()

        def look() -> None:
            while not done.is_set():
                for n, about in enumerate(NUMBERED):
                    found = [id for id in ids(engine, about) if id.startswith("stays")]
                    if found != [f"stays{n}"]:
                        wrong.append((n, found))

        threads = [threading.Thread(target=look) for _ in range(8)]
        for thread in threads:
            thread.start()
        for n in range(150):
            engine.add(f"comes{n}", query(numbered(n % 40)))
            if n >= 5:
                engine.remove(f"comes{n - 5}")
        done.set()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert len(engine) == 45


def test_more_variables_than_a_kernel_has_and_a_class_that_nobody_else_asks_for() -> None:
    patterns = " . ".join(f"?s <{X}p{n}> ?v{n}" for n in range(35))
    engine = Fast(ontology(f"<{X}Dog> {SUB} <{X}Animal>"))
    engine.add("wide", query(f"SELECT ?s {{ {patterns} . ?v0 a <{X}Animal> }}"))
    engine.add("more", query(f"SELECT ?s {{ {patterns} . ?v0 a <{X}Cat> }}"))
    lines = [f"<{X}s> <{X}p{n}> <{X}o{n}>" for n in range(35)]
    assert ids(engine, event(*lines, f"<{X}o0> {TYPE} <{X}Dog>")) == ["wide"]
    assert ids(engine, event(*lines)) == []


def test_one_that_is_too_long_without_its_prefixes_is_kept_all_the_same() -> None:
    words = " ".join("e:o" for _ in range(20_000))
    text = f"PREFIX e: <{X}{'long/' * 20}> SELECT ?s {{ ?s e:p ?o OPTIONAL {{ ?s e:q ?z }} VALUES ?o {{ {words} }} }}"
    engine = Fast(Ontology.empty())
    engine.add("long", query(text))
    assert len(to_text(query(text))) > MAX_LENGTH
    about = event(f"<{X}s> <{X}{'long/' * 20}p> <{X}{'long/' * 20}o>")
    for _ in range(2):
        (match,) = engine.match(about, refuse)
        assert match.bindings[0] == {"s": f"<{X}s>"}
        engine.merge()


class TestOntologies:
    def test_another_ontology_is_known_at_once_and_it_says_who_was_compiled_anew(self) -> None:
        old = ontology(f"<{X}Dog> {SUB} <{X}Animal>", f"<{X}barks> {SUBPROPERTY} <{X}speaks>")
        new = ontology(f"<{X}Dog> {SUB} <{X}Pet>", f"<{X}barks> {SUBPROPERTY} <{X}speaks>")
        engine = Fast(old)
        texts = {
            "animal": f"SELECT ?s {{ ?s a <{X}Animal> }}",
            "pet": f"SELECT ?s {{ ?s a <{X}Pet> }}",
            "speaks": f"SELECT ?s {{ ?s <{X}speaks> ?o }}",
            "maybe": f"SELECT ?s {{ ?s <{X}speaks> ?o OPTIONAL {{ ?s a <{X}Pet> }} }}",
        }
        for id, text in texts.items():
            engine.add(id, query(text))
        rex = event(f"<{X}rex> {TYPE} <{X}Dog>", f'<{X}rex> <{X}barks> "woof"')
        assert ids(engine, rex) == ["animal", "maybe", "speaks"]
        assert engine.replace_ontology(new) == ("animal", "maybe", "pet")
        assert ids(engine, rex) == ["maybe", "pet", "speaks"]
        engine.merge()
        assert ids(engine, rex) == ["maybe", "pet", "speaks"]
        assert engine.replace_ontology(new) == ()
        engine.add("late", query(texts["pet"]))
        assert ids(engine, rex) == ["late", "maybe", "pet", "speaks"]

    def test_a_property_that_comes_under_another_one_touches_who_asks_for_that(self) -> None:
        engine = Fast(ontology(f"<{X}sings> {SUBPROPERTY} <{X}speaks>"))
        engine.add("speaks", query(f"SELECT ?s {{ ?s <{X}speaks> ?o }}"))
        engine.add("barks", query(f"SELECT ?s {{ ?s <{X}barks> ?o }}"))
        rex = event(f'<{X}rex> <{X}barks> "woof"')
        assert ids(engine, rex) == ["barks"]
        new = ontology(f"<{X}sings> {SUBPROPERTY} <{X}speaks>", f"<{X}barks> {SUBPROPERTY} <{X}speaks>")
        assert "speaks" in engine.replace_ontology(new)
        assert ids(engine, rex) == ["barks", "speaks"]

    def test_an_instance_that_gets_a_type_touches_the_classes_above_it(self) -> None:
        old = ontology(f"<{X}Dog> {SUB} <{X}Animal>")
        new = ontology(f"<{X}Dog> {SUB} <{X}Animal>", f"<{X}rex> {TYPE} <{X}Dog>")
        assert different(old, new) == {f"<{X}rex>", f"<{X}Dog>", f"<{X}Animal>"}
        assert different(old, old) == set()


class TestSnapshots:
    @pytest.fixture
    def saved(self, tmp_path: Path) -> Iterator[Path]:
        engine = Fast(ontology(f"<{X}Dog> {SUB} <{X}Animal>"))
        engine.add("animal", query(f"SELECT ?s {{ ?s a <{X}Animal> }}"))
        engine.add("gone", query(f"SELECT ?s {{ ?s a <{X}Animal> }}"))
        engine.merge()
        engine.remove("gone")
        engine.save(tmp_path / "kept")
        return tmp_path / "kept"

    rex = event(f"<{X}rex> {TYPE} <{X}Dog>")

    def test_it_answers_as_before_and_goes_on(self, saved: Path) -> None:
        engine = Fast.open(saved, verify=True)
        assert len(engine) == 1
        assert ids(engine, self.rex) == ["animal"]
        assert engine.match(self.rex, refuse)[0].bindings == ({"s": f"<{X}rex>"},)
        engine.add("dog", query(f"SELECT ?s {{ ?s a <{X}Dog> }}"))
        engine.remove("animal")
        assert ids(engine, self.rex) == ["dog"]
        assert ids(Fast.open(saved), self.rex) == ["animal"]
        engine.save(saved)
        assert ids(Fast.open(saved), self.rex) == ["dog"]

    def test_what_was_taken_out_is_not_in_the_files(self, saved: Path) -> None:
        assert not any(b"gone" in file.read_bytes() for file in saved.iterdir())

    def test_an_ontology_that_does_not_fit_is_refused(self, saved: Path) -> None:
        with pytest.raises(SnapshotError, match="another ontology"):
            Fast.open(saved, ontology=ontology(f"<{X}Dog> {SUB} <{X}Pet>"))
        same = ontology(f"<{X}Dog> {SUB} <{X}Animal>")
        assert ids(Fast.open(saved, ontology=same), self.rex) == ["animal"]


def test_a_lock_is_shared_or_had_alone() -> None:
    lock = SharedLock()
    told: list[str] = []

    def change() -> None:
        with lock.alone():
            told.append("alone")

    with lock.shared(), lock.shared():
        thread = threading.Thread(target=change)
        thread.start()
        thread.join(0.05)
        assert told == []
    thread.join()
    with lock.shared():
        told.append("shared")
    assert told == ["alone", "shared"]


def test_the_one_that_was_made_ready_first_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_MOST_PREPARED", 2)
    part = parts.Live(Ontology.empty, 0)
    for number in range(3):
        part.add(str(number), parse(f"ASK {{ ?s <urn:p> {number} }}"))
    first, second, third = (part.prepared(number) for number in range(3))
    assert part.prepared(1) is second
    assert part.prepared(2) is third
    assert part.prepared(0) is not first
