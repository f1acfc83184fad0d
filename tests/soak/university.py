"""Small universities in the vocabulary of LUBM: one event is a department, or a person, with what is around."""

from __future__ import annotations

import random

from tidings.rdf.event import Event
from tidings.rdf.terms import RDF_TYPE, Term, Triple, iri, literal

UB = "http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#"
STAFF = ["FullProfessor", "AssociateProfessor", "AssistantProfessor", "Lecturer"]
STUDENTS = ["UndergraduateStudent", "GraduateStudent", "ResearchAssistant", "TeachingAssistant"]
COURSES = ["Course", "GraduateCourse"]
PAPERS = ["Publication", "Article", "ConferencePaper", "TechnicalReport", "Book"]


def ub(name: str) -> Term:
    return iri(UB + name)


def department(id: str, dice: random.Random) -> Event:
    """Its people, courses and papers; IRIs as LUBM writes them, so that the constants of its queries occur."""
    university = iri(f"http://www.University{dice.randrange(3)}.edu")
    base = f"http://www.Department{dice.randrange(3)}.{university[12:-1]}"
    home = iri(base)
    found: list[Triple] = [
        (home, RDF_TYPE, ub("Department")),
        (home, ub("subOrganizationOf"), university),
        (university, RDF_TYPE, ub("University")),
    ]
    courses = _named(found, base, COURSES, dice)
    staff = _named(found, base, STAFF, dice)
    for person in staff:
        found.append((person, ub(dice.choice(["worksFor", "worksFor", "headOf", "memberOf"])), home))
        found += [(person, ub("teacherOf"), course) for course in dice.sample(courses, min(2, len(courses)))]
        found.append((person, ub(f"{dice.choice(['doctoral', 'masters', 'undergraduate'])}DegreeFrom"), university))
        found.append(
            (person, ub("name"), literal(f"Professor {dice.choice('ABC')} of {dice.choice(['Logic', 'Law'])}"))
        )
        found.append((person, ub("emailAddress"), literal(f"p{dice.randrange(9)}@{base[7:]}")))
        found.append((person, ub("telephone"), literal(f"xxx-xxx-{dice.randrange(9)}")))
    for person in _named(found, base, STUDENTS, dice):
        found.append((person, ub("memberOf"), home))
        found += [(person, ub("takesCourse"), course) for course in dice.sample(courses, min(2, len(courses)))]
        found.append((person, ub("advisor"), dice.choice(staff)))
        found.append((person, ub("undergraduateDegreeFrom"), university))
    for paper in _named(found, base, PAPERS, dice):
        found.append((paper, ub("publicationAuthor"), dice.choice(staff)))
    if dice.random() < 0.5:
        group = iri(f"{base}/ResearchGroup{dice.randrange(3)}")
        found += [(group, RDF_TYPE, ub("ResearchGroup")), (group, ub("subOrganizationOf"), home)]
    return Event.of(id, found)


def _named(found: list[Triple], base: str, kinds: list[str], dice: random.Random) -> list[Term]:
    """One to three of each of some kinds, typed; the names are LUBM's: the kind and a number."""
    made = []
    for kind in dice.sample(kinds, dice.randint(1, min(3, len(kinds)))):
        for number in range(dice.randint(1, 2)):
            node = iri(f"{base}/{kind}{number}")
            found.append((node, RDF_TYPE, ub(kind)))
            made.append(node)
    return made
