"""Predictions of rows that a model has not seen: folds, models of the folds, and what their means are worth.

The one engine of everything that is held out: the choice of ``method="auto"``, reports, the calibration of
sets, intervals and scatter, and the check of error bars. Only the core makes other folds, for the
sigmoids of probabilities and the paths of penalties inside one fit; `folds` says how they get whole groups.
"""
