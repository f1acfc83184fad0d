"""The trie forest of RTF, in the paper's words: content(N), children(N) and tIDs(N) of each node.

A forest is a node itself, one without content: its children are the tries, so their dictionary is the hash table of
trie roots. All variables are one node, since their names mean nothing to other queries, and all wildcards another one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tidings.lang.pattern import Node, Var
from tidings.match.rtf.size import Size
from tidings.rdf.terms import Term

if TYPE_CHECKING:
    from tidings.match.rtf.filtering import StoredTuple

VARIABLE: Final = "?"
WILDCARD: Final = "*"
FULL_TEXT: Final = "FT"

# Most nodes are leaves, most inner nodes hold no tuple: they share what they do not have.
_NO_CHILDREN: Final[dict[str, TrieNode]] = {}
_NO_TUPLES: Final[list[StoredTuple]] = []


class TrieNode:
    """A node of a trie; `tids` are the tuples that end here, in the order of their numbers."""

    __slots__ = ("children", "content", "parent", "tids")

    def __init__(self, content: str = "", parent: TrieNode | None = None) -> None:
        self.content = content
        self.parent = parent
        self.children = _NO_CHILDREN
        self.tids = _NO_TUPLES

    def child(self, content: str) -> TrieNode:
        """The child of this content, made where there is none."""
        found = self.children.get(content)
        if found is None:
            if self.children is _NO_CHILDREN:
                self.children = {}
            found = self.children[content] = TrieNode(content, self)
        return found

    def put(self, stored: StoredTuple) -> None:
        """Appends to tIDs(N): the newest tuple has the highest number."""
        if self.tids is _NO_TUPLES:
            self.tids = []
        self.tids.append(stored)

    def take(self, stored: StoredTuple) -> None:
        """Removes from tIDs(N), and with it what is no longer needed of the trie."""
        del self.tids[bisect_left(self.tids, stored.tid, key=lambda other: other.tid)]
        node = self
        while node.parent is not None and not node.tids and not node.children:
            del node.parent.children[node.content]
            node = node.parent


def content(place: Node) -> str:
    """What a place of a query's tuple is in the trie."""
    if not isinstance(place, Var):
        return place
    return WILDCARD if place.name.startswith("*") else VARIABLE


# ------------------------------------------------------------------------------------------------------------ insertion


def insert_structure(forest: TrieNode, s: Node, p: Node, o: Node) -> TrieNode:
    """Subject, predicate, object: as far as there is such a path it is followed, and from there on made."""
    return forest.child(content(s)).child(content(p)).child(content(o))


def insert_words(root: TrieNode, words: Iterable[str]) -> TrieNode:
    """Greedily: as long as one of the words is a child already it goes there, and the others are made below.

    So what the trie looks like depends on what came first.
    """
    left = dict.fromkeys(words)
    node = root
    while left:
        known = next((word for word in left if word in node.children), None) if node.children else None
        word = next(iter(left)) if known is None else known
        node = node.child(word)
        del left[word]
    return node


# ------------------------------------------------------------------------------------------------------------ traversal


def structure_leaves(forest: TrieNode, triple: Sequence[Term]) -> tuple[list[TrieNode], int]:
    """traverseTrie, for the levels of the structure: the nodes at the last of them, and how many were visited.

    Of the beginning of a triple, these are the nodes that it passes.
    """
    level = [forest]
    visited = 0
    for term in triple:
        level = [child for node in level for child in _satisfied(node.children, term)]
        visited += len(level)
    return level, visited


def _satisfied(children: dict[str, TrieNode], term: Term) -> list[TrieNode]:
    return [children[key] for key in (term, VARIABLE, WILDCARD) if key in children]


def word_nodes(root: TrieNode, words: dict[str, list[int]]) -> list[TrieNode]:
    """traverseTrie, for words: every node below `root` that is reached through words of the text alone."""
    found: list[TrieNode] = []
    todo = [root]
    while todo:
        children = todo.pop().children
        if len(children) <= len(words):
            satisfied = [child for word, child in children.items() if word in words]
        else:
            satisfied = [children[word] for word in words if word in children]
        if satisfied:
            found += satisfied
            todo += [child for child in satisfied if child.children]
    return found


# -------------------------------------------------------------------------------------------------------------- figures


def every_node(forest: TrieNode) -> Iterator[TrieNode]:
    todo = [forest]
    while todo:
        node = todo.pop()
        yield node
        todo += node.children.values()


def measure(node: TrieNode, size: Size) -> None:
    """Adds content(N), tIDs(N), and N as a child of another node."""
    size.own(node)
    size.share(node.content, node.children, node.tids)
    size.keep(1 + len(node.tids), node.content)
