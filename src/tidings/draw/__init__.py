"""Drawings: an explanation as a graph, a matching tree as a tree, each one SVG file that stands alone.

event.py     the event graph, with what was matched in it: `event_svg`; alone: `graph_svg`
tree.py      the AND-OR matching tree of the matcher `ops`: `tree_svg`
marks.py     what an explanation says about each triple and node
cards.py     an event as cards and arcs
layered.py   where cards, arcs and their labels go; packed.py: where there are several graphs
tidy.py      where the nodes of a tree go
panel.py     conditions and legend
lines.py, text.py, svg.py   lines of text, how wide they are, what is written
"""

from tidings.draw.event import event_svg, graph_svg
from tidings.draw.tree import tree_svg

__all__ = ["event_svg", "graph_svg", "tree_svg"]
