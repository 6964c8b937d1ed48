"""`Model.report` fits again with the covariances between errors of features and target."""

from __future__ import annotations

import numpy as np
import polars

import uncertain


def test_the_coefficients_of_the_report_are_those_of_the_model() -> None:
    rng = np.random.default_rng(0)
    n = 400
    z = rng.normal(size=n)
    together = rng.normal(size=n)
    table = polars.DataFrame(
        {
            "x": z + 0.5 * together,
            "x_err": np.full(n, 0.5),
            "y": 2.0 * z - 0.8 * together + 0.1 * rng.normal(size=n),
            "y_err": np.full(n, np.hypot(0.8, 0.1)),
            "cov_x_y": np.full(n, -0.4),
        }
    )
    model = uncertain.fit(table, "y", method="mixture")
    without = uncertain.fit(table.drop("cov_x_y"), "y", method="mixture")
    assert model.columns_.target_cov == {"x": "cov_x_y"}
    # The shift that the covariance makes is many standard errors.
    assert abs(model.pipeline_[-1].coef_[0] - 2.0) < 0.16 < abs(without.pipeline_[-1].coef_[0] - 2.0)
    report = model.report(table, folds=3, repeats=1)
    assert report.coefficients is not None
    own = report.coefficients.values[report.coefficients.names.index(report.own)]
    np.testing.assert_allclose(own, model.pipeline_[-1].coef_, rtol=1e-8)
