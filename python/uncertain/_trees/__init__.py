"""Boosted trees that the core keeps: fitted by scikit-learn, saved as arrays, answering as before."""
