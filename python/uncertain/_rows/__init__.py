"""Rows of a fit, wherever they are."""
