"""What becomes of a match: a notification with an id of its own."""
