"""What goes wrong with a machine: a full disk, a folder that may not be written to, a page that comes back as another,
a clock that is set back, two servers on one folder. Each is told, with what to do, and nothing that was acknowledged is
lost by it.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import httpx2
import pytest
from tests.broker.server import TIDINGS, Server
from tests.unit.broker.offers import ANY, CHEAP, ids, offer, told

import tidings
from tidings.broker import core as cores
from tidings.broker import postings
from tidings.broker.database import FILE
from tidings.errors import BrokerError
from tidings.rdf.event import Event, to_nquads

NQUADS = {"content-type": "application/n-quads"}
SEEDS = int(os.environ.get("TIDINGS_SEEDS", "6"))
SPARQL = {"content-type": "application/sparql-query"}


@pytest.fixture
def http() -> Iterator[httpx2.Client]:
    with httpx2.Client(timeout=30, verify=False) as made:
        yield made


def publish(http: httpx2.Client, url: str, number: int, more: str = "") -> httpx2.Response:
    """An offer, about which there is `more` to be said."""
    event = offer(number)
    if more:
        event = Event(event.id, f'<urn:a> <urn:b> "{more}" .\n{event.body}')
    return http.post(f"{url}/v1/events", content=to_nquads(event), headers=NQUADS)


def subscribe(http: httpx2.Client, url: str, id: str) -> httpx2.Response:
    return http.put(f"{url}/v1/subscriptions/{id}", content=ANY, headers=SPARQL)


def heard(http: httpx2.Client, url: str, id: str) -> list[str]:
    page = http.get(f"{url}/v1/subscriptions/{id}/notifications?limit=1000&after=1-0").json()
    return [each["event"] for each in page["notifications"]]


def is_refused(answer: httpx2.Response, *said: str) -> None:
    assert answer.status_code == 503, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert int(answer.headers["retry-after"]) > 0
    for each in said:
        assert each in answer.json()["detail"]


# --------------------------------------------------------------------------------------------------------------- a disk


def test_a_full_disk(tmp_path: Path, http: httpx2.Client) -> None:
    """Files of the server's may grow up to a bound; then the bound goes away."""
    with Server(tmp_path, "--open") as server:
        subscribe(http, server.url, "s").raise_for_status()
        done = [number for number in range(20) if publish(http, server.url, number).status_code == 202]
        assert len(done) == 20
        longest = max(each.stat().st_size for each in tmp_path.iterdir())
        _, before = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (longest + 20_000, before))
        refused: list[int] = []
        # So that there is no room for all of them, also where the log of writes begins anew meanwhile.
        more = "x" * (longest // 40 + 1_000)

        def run(first: int) -> None:
            for number in range(first, first + 20):
                answer = publish(http, server.url, number, more)
                if answer.status_code == 202:
                    done.append(number)
                else:
                    is_refused(answer, "nothing of this was taken", "make room")
                    refused.append(number)

        threads = [Thread(target=run, args=(100 * n,)) for n in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert refused
        large = f'<urn:a> <urn:b> "{"x" * (longest + 100_000)}" <urn:large> .\n'
        answer = http.post(f"{server.url}/v1/events", content=large, headers={"content-type": "application/n-quads"})
        is_refused(answer, "make room")
        # When the log of writes has been taken over, there is some room in it for what is small.
        late = subscribe(http, server.url, "late")
        if late.status_code != 201:
            is_refused(late, "make room")
        # It goes on telling what it has, and nothing else.
        assert sorted(heard(http, server.url, "s")) == sorted(ids(*done))
        there = http.get(f"{server.url}/v1/subscriptions/late").status_code
        assert there == (200 if late.status_code == 201 else 404)
        assert str(tmp_path) in server.said()
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (before, before))
        for number in (*refused, 1_000):
            publish(http, server.url, number).raise_for_status()
        after = [*done, *refused, 1_000]
        assert sorted(heard(http, server.url, "s")) == sorted(ids(*after))
        server.kill()
    with Server(tmp_path, "--open") as server:
        publish(http, server.url, 1_001).raise_for_status()
        assert sorted(heard(http, server.url, "s")) == sorted(ids(*after, 1_001))


@contextmanager
def full(broker: tidings.Broker) -> Iterator[None]:
    """A database that has as many pages as it may have."""
    writer = broker._core.database._writer
    [pages] = writer.execute("PRAGMA page_count").fetchone()
    writer.execute(f"PRAGMA max_page_count = {pages}")
    yield
    writer.execute(f"PRAGMA max_page_count = {1 << 30}")


def test_a_full_disk_in_the_middle_of_a_group(tmp_path: Path) -> None:
    """What the engine knows and what is in the database stay the same."""
    large = "SELECT ?pc { ?pc <http://x/price> ?p FILTER(?p < 400) } #" + "x" * 500_000
    with tidings.Broker(tmp_path) as broker:
        broker.subscribe(ANY, id="any")
        with full(broker):
            core = broker._core
            outcomes: list[str] = []
            refused: list[str] = []

            def run(number: int) -> None:
                try:
                    broker.subscribe(large if number % 2 else CHEAP, id=f"s{number}")
                except BrokerError as error:
                    refused.append(str(error))
                else:
                    outcomes.append(f"s{number}")

            threads = [Thread(target=run, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert not [id for id in outcomes if int(id[1:]) % 2]
            assert len(refused) >= 4
            assert all("the disk is full" in each and str(tmp_path) in each for each in refused)
            with pytest.raises(BrokerError, match="the disk is full"):
                broker.publish(Event("urn:large", f'<urn:a> <urn:b> "{"y" * 500_000}" .\n'))
            with pytest.raises(BrokerError, match="the disk is full"):
                broker.subscription("any").pause("z" * 500_000)
            assert len(core.matching.engine) == 1 + len(outcomes)
        assert sorted(match.subscription for match in broker.publish(offer(2))) == sorted(["any", *outcomes])
        for id in ("any", *outcomes):
            assert told(broker.subscription(id)) == ids(2)
    with tidings.Broker(tmp_path) as broker:
        assert sorted(match.subscription for match in broker.publish(offer(3))) == sorted(["any", *outcomes])
        assert told(broker.subscription("any")) == ids(2, 3)


# ------------------------------------------------------------------------------------------------------------- a folder


def test_a_file_in_place_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for wrong in ("file", "file/broker"):
        with pytest.raises(BrokerError, match="name a folder that may be written to") as refused:
            tidings.Broker(tmp_path / wrong)
        assert str(tmp_path / wrong) in str(refused.value)


@contextmanager
def as_nobody() -> Iterator[None]:
    """For root, permissions do not count."""
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        os.setegid(65_534)
        os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(user)
        os.setegid(group)


@pytest.mark.parametrize("files", [0o444, 0o666])
def test_a_folder_that_may_not_be_written_to(files: int) -> None:
    with TemporaryDirectory() as made:
        folder = Path(made) / "broker"
        Path(made).chmod(0o755)
        with tidings.Broker(folder) as broker:
            broker.subscribe(ANY, id="s")
            broker.publish(offer(1))
        folder.chmod(0o555)
        for each in folder.iterdir():
            each.chmod(files)
        with as_nobody(), pytest.raises(BrokerError, match="written to") as refused:
            tidings.Broker(folder)
        assert str(folder) in str(refused.value)
        folder.chmod(0o755)
        for each in folder.iterdir():
            each.chmod(0o644)
        with tidings.Broker(folder) as broker:
            broker.publish(offer(2))
            assert told(broker.subscription("s")) == ids(1, 2)


def test_two_on_one_folder(tmp_path: Path, http: httpx2.Client) -> None:
    """Also by another name; the one that is there does not notice, and a kill lets go of the folder."""
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "broker")
    with Server(tmp_path / "broker", "--open") as server:
        for folder in (tmp_path / "broker", link):
            with pytest.raises(BrokerError, match="running already; end that first"):
                tidings.Broker(folder)
        publish(http, server.url, 1).raise_for_status()
        server.kill()
    with tidings.Broker(link) as broker:
        assert broker.event(ids(1)[0]) is not None


# --------------------------------------------------------------------------------------------------------------- a page


def filled(folder: Path, count: int = 60) -> None:
    """A broker with something in every table and every index."""
    with tidings.Broker(folder) as broker:
        broker.subscribe(ANY, id="any")
        broker.subscribe(CHEAP, id="cheap")
        for number in range(count):
            broker.publish(offer(number, 900 if number % 3 else 100))
        broker.subscribe(CHEAP, id="back", since=cores.datetime.fromtimestamp(0, cores.UTC))
        broker._core.upkeep.turn_round()
        broker.subscription("any").ack(broker.subscription("any").page(limit=5).cursor)


def pages_of(folder: Path) -> dict[str, list[int]]:
    """The pages of each table and index."""
    with closing(sqlite3.connect(folder / FILE)) as database:
        roots = dict(database.execute("SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0"))
        try:
            rows = database.execute("SELECT name, pageno FROM dbstat").fetchall()
        except sqlite3.OperationalError:
            return {name: [page] for name, page in roots.items()}
    found: dict[str, list[int]] = {}
    for name, page in rows:
        found.setdefault(name, []).append(page)
    return found


def spoil(file: Path, page: int, dice: random.Random, size: int = 4_096) -> None:
    """Some bytes of what is in a page become others."""
    data = bytearray(file.read_bytes())
    start = (page - 1) * size
    used = [place for place in range(start, start + size) if data[place]]
    for place in dice.sample(used, min(3, len(used))):
        data[place] ^= 1 << dice.randrange(8)
    file.write_bytes(data)


def everything(folder: Path) -> object:
    """All that a broker tells of what it has; or that it does not."""
    try:
        with tidings.Broker(folder) as broker:
            told_of = {each.id: (each.query, each.state, each.version, told(each)) for each in broker.subscriptions()}
            events = [broker.event(id) for id in ids(*range(60))]
            return told_of, [None if each is None else each.body for each in events]
    except BrokerError as error:
        return str(error)


def _is_told(found: object, folder: Path) -> bool:
    return isinstance(found, str) and "restore a backup" in found and str(folder) in found


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_page_that_comes_back_as_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """It is refused, or it is nothing that anybody is told; and the backup is as good as ever."""
    monkeypatch.setattr(postings, "BLOCK", 16)
    here, backup, spoiled = tmp_path / "here", tmp_path / "backup", tmp_path / "spoiled"
    filled(here)
    with tidings.Broker(here) as broker:
        broker.backup(backup)
    right, dice, noticed = everything(here), random.Random(seed), 0
    for name, pages in pages_of(here).items():
        shutil.rmtree(spoiled, ignore_errors=True)
        shutil.copytree(here, spoiled)
        spoil(spoiled / FILE, dice.choice(pages), dice)
        found = everything(spoiled)
        noticed += isinstance(found, str)
        assert found == right or _is_told(found, spoiled), name
    assert noticed
    assert everything(backup) == right


def test_a_page_that_becomes_another_while_the_server_runs(tmp_path: Path, http: httpx2.Client) -> None:
    folder, backup = tmp_path / "broker", tmp_path / "backup"
    filled(folder)
    with Server(folder, "--open") as server:
        publish(http, server.url, 60).raise_for_status()
        made = subprocess.run([TIDINGS, "backup", folder, backup], capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        again = subprocess.run([TIDINGS, "backup", folder, backup], capture_output=True, text=True)
        assert again.returncode == 2
        assert "there is a broker already" in again.stderr
        file = folder / FILE
        data = file.read_bytes()
        # In the body of an event that is in the file, and not in the log of writes ahead.
        place = data.index(b"http://x/pc7>")
        with file.open("r+b") as opened:
            opened.seek(place + len(b"http://x/pc"))
            opened.write(b"8")
        answer = http.get(f"{server.url}/v1/events/{ids(7)[0]}")
        if answer.status_code == 200:
            # It was in memory.
            assert "pc7" in answer.text
        else:
            is_refused(answer, "event 8", "restore a backup")
        server.kill()
    for _ in range(2):
        # What could not be opened lets go of the folder.
        with pytest.raises(BrokerError, match=r"event 8 .* is not as it was written.*; restore a backup"):
            tidings.Broker(folder)
    with Server(backup, "--open") as server:
        assert "pc7" in http.get(f"{server.url}/v1/events/{ids(7)[0]}").text
        publish(http, server.url, 61).raise_for_status()
        assert heard(http, server.url, "any") == ids(*range(62))


def test_who_read_on_after_a_backup_misses_nothing_when_it_is_restored(tmp_path: Path) -> None:
    """A place that was given after the backup was made is not given again, to something that he has not read."""
    with tidings.Broker(tmp_path / "here") as broker:
        broker.subscribe(ANY, id="s")
        broker.publish(offer(1))
        broker.backup(tmp_path / "there")
        for number in (2, 3, 4):
            broker.publish(offer(number))
        cursor = broker.subscription("s").page().cursor
    with tidings.Broker(tmp_path / "there") as broker:
        for number in range(5, 12):
            broker.publish(offer(number))
        page = broker.subscription("s").page(cursor)
        assert [each.event.id for each in page.notifications] == ids(*range(5, 12))
        assert told(broker.subscription("s")) == ids(1, *range(5, 12))


# -------------------------------------------------------------------------------------------------------------- a clock

SECOND = 1_000_000
HOUR = 3_600 * SECOND


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    now = [1_800_000_000 * SECOND]
    monkeypatch.setattr(cores, "_now", lambda: now[0])
    return now


def accepted(broker: tidings.Broker) -> list[int]:
    with broker._core.database.reading() as reader:
        return [row[0] for row in reader.execute("SELECT accepted FROM events ORDER BY seq")]


def test_a_clock_that_is_set_back(tmp_path: Path, clock: list[int]) -> None:
    """Between runs and during one: the order is that of the log, times do not go back, and time goes on."""
    begun = clock[0]
    with tidings.Broker(tmp_path) as broker:
        broker.subscribe(ANY, id="s")
        broker.publish(offer(1))
        clock[0] -= HOUR
        broker.publish(offer(2))
    clock[0] -= HOUR
    with tidings.Broker(tmp_path) as broker:
        broker.publish(offer(3))
        times = accepted(broker)
        assert times == sorted(times)
        assert times[0] == begun
        assert times[-1] < begun + HOUR
        assert told(broker.subscription("s")) == ids(1, 2, 3)
        # By the time of the events, not by that of the clock.
        since = cores.datetime.fromtimestamp(begun / 1e6, cores.UTC)
        assert told(broker.subscribe(ANY, id="all", since=since)) == ids(1, 2, 3)
        # As long as it may live it lives, and no longer.
        broker.subscribe(ANY, id="short", ttl=0.2)
        broker.subscribe(ANY, id="long", ttl=3_600)
        broker._core.upkeep._over.wait(0.3)
        broker._core.upkeep.once()
        assert [each.id for each in broker.subscriptions()] == ["all", "long", "s"]
        clock[0] = begun + 2 * HOUR
        broker.publish(offer(4))
        assert accepted(broker)[-1] == clock[0]
