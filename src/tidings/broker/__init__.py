"""The broker: publishers and subscribers meet here, and nothing is lost."""
