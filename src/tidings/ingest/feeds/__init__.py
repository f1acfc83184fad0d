"""Feeds in and out: RSS, Atom and JSON Feed become events, and events an Atom feed; when to ask a feed again."""
