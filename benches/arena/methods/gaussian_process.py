"""scikit-learn's Gaussian processes, on at most 700 rows; of numbers with the normal law of the process."""

from __future__ import annotations

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from arena.answers import Answering, Numbers, normal
from arena.method import Method
from arena.table import Table, Values

from ._columns import means, plain

MOST = 700


def fit(train: Table) -> Answering:
    some = train[np.random.default_rng(0).permutation(len(train))[:MOST]]
    if not train.regression:
        process = GaussianProcessClassifier(ConstantKernel() * RBF(3.0), random_state=0)
        codes = np.unique(train.y)
        model = plain(process).fit(means(some), some.y)

        def probabilities(test: Table, grid: Values) -> Values:
            found = np.full((len(test), len(codes)), 0.0)
            found[:, np.searchsorted(codes, process.classes_)] = model.predict_proba(means(test))
            return found

        return probabilities
    kernel = ConstantKernel() * RBF(3.0) + WhiteKernel()
    model = plain(GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)).fit(means(some), some.y)

    def answer(test: Table, grid: Values) -> Numbers:
        mean, std = model.predict(means(test), return_std=True)
        return Numbers(mean, normal(mean, std, grid))

    return answer


METHODS = [Method("Gaussian process, means", fit, quick=False)]
