"""What `tidings bench ingest` takes in: feeds, tables, trees and documents, made from a seed."""
