"""Roles of the columns of a table: declared once, found by name once."""
