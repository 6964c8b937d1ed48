"""Shared by estimators of every family."""
