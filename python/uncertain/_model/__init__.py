"""`uncertain.fit`, `Model` and its file."""
