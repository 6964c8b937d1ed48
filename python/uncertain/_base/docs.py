"""Descriptions of shared parameters and attributes, each written once.

A line ``{gamma, degree}`` of a docstring stands for the entries of these names below, put there when the
class is made; ``{Parameters: gamma, degree}`` for the heading of the section, too. Constructors stay written
out, as scikit-learn wants them.
"""

import re
from typing import TypeVar

T = TypeVar("T")

SHARED = """
X : GaussianArray of n rows, or array-like of shape (n, d)
    Gaussians, or exact points.
readings = X : GaussianArray of n rows, or array-like of shape (n, d)
    Readings with their noise, or exact points. Missing features are NaN in an array, or come as `Incomplete`.
fitted_rows = X : GaussianArray of n rows, or array-like of shape (n, d) or (n, n)
    Gaussians or exact points; the kernel matrix for ``kernel="precomputed"``.
rows_or_kernel = X : GaussianArray of n rows, or array-like of shape (n, d) or (n, number of fitted rows)
    Gaussians or exact points; kernel values for ``kernel="precomputed"``.
of_two_classes = model : fitted classifier of two classes with ``decision_distribution``
true_labels = y : array-like of shape (n,)
    True labels.
refused_classes = UncertainError
    For more than two classes, or labels that are not in ``classes_``.
no_y = y : ignored
self = self
class_labels = ndarray of shape (n,)
    Elements of ``classes_``.
class_probabilities = ndarray of shape (n, K)
    Columns in the order of ``classes_``.
mean_or_both = mean : ndarray of shape (n,), or with `return_std` (mean, std)
labels = y : array-like of shape (n,)
    Labels of any type that sorts.
targets = y : array-like of shape (n,)
    Targets.
sample_weight : array-like of shape (n,), default=None
    Weights >= 0; rows of weight 0 are ignored.
law_weights = sample_weight : array-like of shape (n,), default=None
    Weights >= 0; a common factor changes nothing, and rows of weight 0 are ignored. Whole multiples of the
    smallest count repeated rows. Others count degrees of freedom of (sum w)^2 / sum w^2 rows (a functional
    curve: of the rows that there are), and standard errors are by the sandwich formula.
groups : array-like of shape (n,), default=None
    Object of each row, such as its name. Folds of ``probability`` and of an "auto" penalty never split one.
groups_of_path = groups : array-like of shape (n,), default=None
    Object of each row, such as its name. Folds of an "auto" penalty never split one.
groups_of_trees = groups : array-like of shape (n,), default=None
    Object of each row, such as its name. Rows that are held out to count trees never split one.
no_groups = groups : ignored
    For the interface of other estimators: no rows are held out.
scores = ndarray of shape (n,), or (n, K) for more than two classes
    Positive for ``classes_[1]`` in the case of two classes.
kernel : {"linear", "quadratic", "polynomial", "rbf"}, default="linear"
    x'z, (x'z)^2, (gamma x'z + coef0)^degree or exp(-gamma ||x - z||^2). All but "linear" fit in the
    coordinates of :class:`~uncertain.KernelMap`, with error bars to first order; ``coef_`` belongs to them.
gamma = gamma, degree, coef0 : float > 0, int and float, default="median", 3 and 1.0
    Of the kernel; gamma "median" is 1 / (2 m^2), m the median distance of two rows with error bars.
max_rank = max_rank, rank_tol : int or None, default=300, and float, default=1e-6
    Dimensions of the coordinates at most, and the largest relative error of an inner product.
sigma : float or "median", default=1.0
    Bandwidth of the kernel; "median" is :func:`uncertain.kernels.median_distance` of the rows.
coupling : {"shared", "independent"}, default="shared"
    One draw of noise for all rows, or one each; see :func:`uncertain.kernels.probabilistic_rbf`.
fit_intercept : bool, default=True
    Whether to fit b; otherwise b = 0.
class_weight : dict, "balanced" or None, default=None
    Weight of each class, multiplied with ``sample_weight``; "balanced" gives all classes the same sum.
probability : bool, default=False
    Fit Platt's sigmoid to cross-validated scores, for ``predict_proba``; five times the work.
seed_of_folds = random_state : int, RandomState or None, default=None
    Seed of the folds of ``probability``.
alpha_ = alpha_, path_ : float, and dict of ndarrays
    The alpha in use; with "auto" penalties, the strongest first, "mean_loss" on held-out rows,
    "standard_error" of its distance from the best, and "fold_losses" (penalties x folds).
n_jobs : int or None, default=None
    Number of threads (-1: one per processor), without influence on the result. None: ``OMP_NUM_THREADS``.
verbose = verbose, callback : int, default=0, and callable, default=None
    A line, and a call with ``Progress(task, iteration, objective, gap)``, per iteration.
em_tol = tol : float or None, default=None
    EM stops when a step raises the mean log-likelihood per row by no more than this. None: 0.1 / n, but at
    least 1e-6, for n (effective) rows; with noise that dominates, 1e-9 is nearer to the maximum.
em_max_iter = max_iter : int, default=1000
    Most passes over the rows after the first.
acceleration : "squarem" or None, default="squarem"
    "squarem" extrapolates pairs of steps (Varadhan and Roland 2008); one component that needs more than 20
    passes goes on with L-BFGS. The likelihood never falls. None is plain EM.
reg_covar : float, default=1e-6
    T >= ``reg_covar * diag(D)`` in every direction, D_j the variance of feature j over the half of the rows
    with the smallest errors of it. Use 0.1 to 0.3 with few rows per feature.
discriminant_reg_covar = reg_covar : float or None, default=None
    T >= ``reg_covar * diag(D)`` in every direction, D_j the variance of feature j over the half of the rows
    with the smallest errors of it. None: 1e-6, and T >= ``min(d / n, 0.5) * diag(E)``, E_j the median
    variance of the errors of feature j and n the rows of one T.
max_components : int, default=10
    The most that "auto" tries.
em_seed = random_state : int, RandomState or None, default=None
    Seed of the start (k-means++ on 5,000 rows) and of the folds of "auto".
em_verbose = verbose, callback : int, default=0, and callable, default=None
    A line, and a call with ``Progress`` (the objective is the mean log-likelihood), per step.
estimator : scikit-learn estimator or None, default=None
    The learner, which gets the columns. None is histogram gradient boosting with a rate of 0.05.
n_copies : int >= 1, default=8
    Number of copies of every row, the row itself included.
factors : "auto" or (smallest, largest), default="auto"
    Range of the log-uniform factors of the errors of copies; a quarter of them are below 1, if `smallest` is.
    "auto": from 0.1 until errors are twice the spread of the data (at most 8). Pass the range of new errors,
    such as ``(1, 4)``, if you know it.
per_feature : float in [0, 1], default=0.5
    Share of the copies with larger errors in which only some of the features have them. 0: all or none.
error_columns : {"errors", "correlations", "skewness"}, default="errors"
    Columns beside the means; see :class:`~uncertain.ErrorColumns`.
copy_components = n_components : int >= 1, default=5
    Gaussians of the `GaussianDenoiser` that draws true values for copies with smaller errors.
n_trees : "auto" or int >= 0, default="auto"
    Trees of the default learner. "auto": as many (at most 1,280) as help held-out objects; 0 is a constant.
copy_seed = random_state : int, RandomState or None, default=None
    Seed of the copies, and of the learner if it has one.
learner_jobs = n_jobs : int or None, default=None
    Passed on to a learner that has it; the default one takes as many threads.
n_learners : "auto" or int >= 1, default="auto"
    Learners of the default kind, fitted to different copies, whose scores (log odds) are averaged. "auto":
    4, fewer for large fits, 1 for exact rows and for other learners.
learner_ = estimator_ : fitted estimator
    The learner; of several, one that has the trees of all.
n_trees_ : int
    The number of trees of each default learner; 0 for a constant.
factors_ : (float, float)
    Smallest and largest factor.
error_columns_ : ErrorColumns
    The fitted transformer in front of the learner.
coef_ = coef_, intercept_ : ndarrays of shape (1, d) and (1,), or (K, d) and (K,)
    w and b of each problem: one for two classes, else one per class.
C_ = C_, path_ : float, and dict of ndarrays
    The C in use; with "auto" as in :class:`~uncertain.GSUClassifier`.
classes_ : ndarray of shape (K,)
    The labels, sorted.
kernel_map_ : KernelMap or None
    The map to the coordinates of the kernel; None for the linear one.
em_weights_ = weights_ : ndarray of shape (K,)
    Shares pi_k.
n_components_ : int
    K.
held_out_log_likelihoods_ : ndarray
    Mean log-likelihood per held-out row for K = 1, 2, ...; only with ``n_components="auto"``.
em_n_iter_ = n_iter_, status_ : int and str
    Passes over the rows after the first; "converged", "max_iter" or "no_progress" (rounding prevents more).
law_em = max_components, tol, max_iter, acceleration, reg_covar, random_state, n_jobs, verbose, callback
    Those of EM, as in `GaussianDenoiser`.
law_outliers = outliers, degrees_of_freedom : {"student", "mixture"} or None, and float or None, default=None
    Noise of the targets beside their error bars: Student's distribution, of degrees of freedom that are given
    or estimated, or a share of bad data whose noise is further. For a curve, structural only.
law_error_scale = error_scale : {"fit", "features", "both"} or None, default=None
    Error bars that are right up to a factor, which is estimated: of the target ("fit"), of each feature, or
    of both. Bars of about equal size do not tell it, and are refused. For a curve, structural only.
law_groups = groups : array-like of shape (n,), default=None
    The object that each row belongs to: standard errors are then those of independent groups, the sandwich

    .. code-block:: text

        V = H^-1 M H^-1,    M = G / (G - 1) sum_g u_g u_g'

    with the information H and the sums u_g of the G groups' scores (Liang and Zeger 1986). Fewer than 10
    groups are refused: for a line without ``outliers``, ``error_scale``, ``modes`` or ``y_cov`` by
    ``coef_std_`` and all that needs it, else by the fit.
law_extras_ = outlier_probability_, outlier_law_ : ndarray of shape (n,), dict
    With ``outliers``: probability that a row's target is bad (or its noise more than three times as wide as
    its scale), and degrees of freedom, or share and width of bad data, as pairs (estimate, standard error).
error_scale_ = error_scale_, error_scale_std_, feature_error_scale_, feature_error_scale_std_ : optional
    With ``error_scale``: factors of the target's and of each feature's error bars, and standard errors.
feature_error_scale_ = feature_error_scale_, feature_error_scale_std_ : ndarrays of shape (d,)
    With ``error_scale``: factors of each feature's error bars, and standard errors.
modes_ = modes_, modes_std_ : ndarrays of shape (k,)
    Errors that rows share, in units of their standard deviations, and standard errors.
n_features_in_ : int
    Dimension d of the rows.
feature_names_in_ = n_features_in_, feature_names_in_ : int, and ndarray of shape (d,)
    Dimension d of the rows, and names of the columns, if X was a table of scalar columns.
refused = UncertainError
    (a ValueError) For data or parameters that cannot be used; the message says which and where.
em_warning = ConvergenceWarning
    If EM ends before `tol` is reached.
gsu_paper = C. Tzelepis, V. Mezaris, I. Patras, Linear Maximum Margin Classifier for Learning from Uncertain
Data, IEEE TPAMI 40(12), 2018, doi 10.1109/TPAMI.2017.2772235.
"""


def _entries(text: str) -> dict[str, str]:
    """Entries by key: what stands before " = ", else the name before " : "."""
    entries: dict[str, str] = {}
    key = ""
    for line in text.strip().splitlines():
        head = re.match(r"(?:(\w+) = (?=\S))?((\w+) : .*|.+)$", line)
        if head and (head[1] or head[3]):
            key = head[1] or head[3]
            entries[key] = head[2]
        else:
            entries[key] += f"\n{line}"
    return entries


ENTRIES = _entries(SHARED)
PLACE = re.compile(r"^( *\{(?:[A-Z][a-z]+: )?)([a-z_0-9XC]+(?:, [a-z_0-9XC]+)*)\}$", re.MULTILINE)


def _filled(doc: str) -> str:
    def entries(place: re.Match[str]) -> str:
        indent, _, heading = place[1].removesuffix(": ").partition("{")
        lines = [heading, "-" * len(heading)] if heading else []
        lines += "\n".join(ENTRIES[name] for name in place[2].split(", ")).splitlines()
        return "\n".join((indent + line).rstrip() for line in lines)

    return PLACE.sub(entries, doc)


def documented(thing: T) -> T:
    """The class or function with the named entries in its docstrings."""
    parts: list[object] = [thing, *vars(thing).values()] if isinstance(thing, type) else [thing]
    for part in parts:
        # Methods that are there for some parameters only hold the function in `fn`.
        for held in {part, getattr(part, "fn", part)} if callable(part) or hasattr(part, "fn") else ():
            doc = getattr(held, "__doc__", None)
            if isinstance(doc, str):
                held.__doc__ = _filled(doc)
    return thing
