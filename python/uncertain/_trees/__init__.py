"""Boosted trees: fitted by scikit-learn, saved as arrays of the core."""
