"""How far `GaussianDiscriminant.decision_distribution` is from draws where it is no closed form.

Run: python benches/python/score_distribution.py. Simulated models of 2 to 4 classes with one or two
components, 2 to 20 features, three rows each, 400,000 draws per row. Prints quantiles (0.5, 0.95, 1) over the
scores: errors of the mean in deviations of the score, then relative errors of the deviation. Scores whose
deviation is below 0.05 are left out: their few large draws are too rare for the draws, too.
"""

import warnings

import numpy as np

from uncertain import GaussianArray, GaussianDiscriminant

DRAWS = 100_000


def main() -> None:
    rng = np.random.default_rng(5)
    warnings.simplefilter("ignore")  # whether the fits converge does not matter here
    for shared in (True, False):
        for d in (2, 3, 5, 10, 20):
            of_means, of_stds = [], []
            for trial in range(12):
                n_classes, components = [(3, 1), (2, 2), (4, 2)][trial % 3]
                n = 60 * n_classes * max(1, d // 5)
                y = np.arange(n) % n_classes
                scale = 1 + 0.4 * y[:, None] * (not shared)
                x = scale * rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(n_classes, d))[y]
                if components > 1:
                    x[::3] += 2.5 * rng.normal(size=d) / np.sqrt(d)
                model = GaussianDiscriminant(shared, components, random_state=0).fit(x, y)
                root = 0.5 * rng.normal(size=(3, d, d))
                rows = GaussianArray(x[:3], cov=root @ root.swapaxes(1, 2))
                mean, std = model.decision_distribution(rows)
                for i in range(3):
                    parts = [rows[i : i + 1].sample(DRAWS, 10 * i + part) for part in range(4)]
                    scores = np.concatenate([model.decision_function(part) for part in parts])
                    spread = scores.std(axis=0)
                    counted = np.atleast_1d(spread > 0.05)
                    of_means += list(np.atleast_1d((mean[i] - scores.mean(axis=0)) / spread)[counted])
                    of_stds += list(np.atleast_1d(std[i] / spread - 1)[counted])
            quantiles = [np.quantile(np.abs(errors), [0.5, 0.95, 1]) for errors in (of_means, of_stds)]
            told = [" ".join(f"{q:.4f}" for q in errors) for errors in quantiles]
            print(f"{shared=!s:5}  {d=:2}  mean {told[0]}   std {told[1]}   {len(of_means)} scores")


if __name__ == "__main__":
    main()
