"""The archive: every event once, laid out so that a few of them are found without reading the others."""
