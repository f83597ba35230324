"""What a run holds, as tables for anything that reads Arrow (docs/tables.md)."""
