"""Any data in: feeds, tables, trees and documents become events."""
