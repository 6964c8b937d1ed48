"""Descriptions of parameters and attributes that several estimators share, each written once.

A line ``{gamma, degree}`` of a docstring stands for the entries of these names below, put there when the
class is made; ``{Parameters: gamma, degree}`` for the heading of the section, too. Constructors stay written
out, as scikit-learn wants them.
"""

from __future__ import annotations

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
    For more than two classes, or labels that the model does not know.
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
groups : array-like of shape (n,), default=None
    The object that each row belongs to, such as its name. Where ``probability=True``, or a penalty that is
    "auto", holds rows out, the rows of a group are held out together. Groups have no other effect.
groups_of_path = groups : array-like of shape (n,), default=None
    The object that each row belongs to, such as its name. Where a penalty that is "auto" holds rows out, the
    rows of a group are held out together. Groups have no other effect.
groups_of_trees = groups : array-like of shape (n,), default=None
    The object that each row belongs to, such as its name. The default learner chooses its number of trees by
    rows that are held out; the rows of a group are held out together. Groups have no other effect.
no_groups = groups : ignored
    Ignored: nothing is held out. It is here for the same interface as other estimators.
scores = ndarray of shape (n,), or (n, K) for more than two classes
    Positive for ``classes_[1]`` in the case of two classes.
kernel : {"linear", "quadratic", "polynomial", "rbf"}, default="linear"
    The products x'z, (x'z)^2, (gamma x'z + coef0)^degree or exp(-gamma ||x - z||^2). All but "linear" fit
    the same problem to the rows in the kernel's feature space, see :class:`~uncertain.KernelMap`: ``coef_``
    then belongs to the ``kernel_map_.rank_`` coordinates of that space, and error bars are carried there to
    first order.
gamma : float > 0 or "median", default="median"
    Parameter of "polynomial" and "rbf". "median" is 1 / (2 m^2) with the median distance m of two different
    rows, error bars included.
degree : int >= 1, default=3
    Of "polynomial".
coef0 : float >= 0, default=1.0
    Of "polynomial".
max_rank : int or None, default=300
    Most dimensions of the feature space; ``kernel_map_.error_`` says what they leave out.
rank_tol : float, default=1e-6
    Dimensions are added until no inner product is off by more than this, relative to the largest.
sigma : float or "median", default=1.0
    Bandwidth of the kernel; "median" is :func:`uncertain.kernels.median_distance` of the rows (that have
    weight).
coupling : {"shared", "independent"}, default="shared"
    Whether rows share one draw of noise or each has its own; see :func:`uncertain.kernels.probabilistic_rbf`.
fit_intercept : bool, default=True
    Whether to fit b; otherwise b = 0.
class_weight : dict, "balanced" or None, default=None
    Weight of each class, multiplied with ``sample_weight``; "balanced" gives all classes the same sum.
probability : bool, default=False
    Whether to fit Platt's sigmoid on cross-validated scores, which ``predict_proba`` needs; about five
    times the work.
seed_of_folds = random_state : int, RandomState or None, default=None
    Seed of the folds of ``probability``.
alpha_ : float
    The alpha in use.
C_ : float
    The C in use.
path_ : dict of ndarrays
    With "auto": the penalties tried, the strongest first; their "mean_loss" on held-out rows; the
    "standard_error" of its difference from the best over the folds; and "fold_losses" (penalties x folds).
    Not in model files.
n_jobs : int or None, default=None
    Number of threads; None is the environment's default (``OMP_NUM_THREADS``, threadpoolctl), -1 every
    processor. The result does not depend on it.
verbose : int, default=0
    Print a line per iteration.
callback : callable, default=None
    Called with a ``Progress(task, iteration, objective, gap)`` per iteration; an exception ends the fit.
em_tol = tol : float or None, default=None
    EM stops when a step raises the mean log-likelihood per row by no more than this. None is 0.1 / n, but at
    least 1e-6, for n (effective) rows. Where noise dominates, EM then stops before the results have settled:
    at 1e-9 another order of rows or features changes them by up to 0.0004 (of a standard deviation of the
    data, or of a probability).
em_max_iter = max_iter : int, default=1000
    Most passes over the rows after the first one.
acceleration : "squarem" or None, default="squarem"
    "squarem" extrapolates pairs of steps (Varadhan and Roland 2008) and keeps an extrapolation only if the
    likelihood did not fall. Where one component explains all rows (of a class) and that takes more than 20
    passes, L-BFGS goes on with the same sums, on mu and L of T = L L' + reg_covar diag(D). None is plain EM.
reg_covar : float, default=1e-6
    Every T is kept at or above ``reg_covar * diag(D)`` in every direction, where D_j is the variance of
    feature j over the half of the rows with the smallest errors of it. This is a constraint of the fit: the
    likelihood never falls. With few rows per feature, 0.1 to 0.3 keeps directions from losing all variance.
discriminant_reg_covar = reg_covar : float or None, default=None
    Every T is kept at or above ``reg_covar * diag(D)`` in every direction, where D_j is the variance of
    feature j over the half of the rows with the smallest errors of it. None keeps T also above
    ``min(d / n, 0.5) * diag(E)``, E_j the median variance of the errors of feature j and n the rows of one T
    (of all classes with ``shared_covariance``), and above ``1e-6 * diag(D)``: the most likely T of few noisy
    rows has directions without any variance. Exact rows have no such floor.
max_components : int, default=10
    The most that "auto" tries.
em_seed = random_state : int, RandomState or None, default=None
    Seed of k-means++, of the 5,000 rows that the start looks at, and of the folds of "auto".
em_verbose = verbose : int, default=0
    Print a line per step (the objective is the mean log-likelihood).
em_callback = callback : callable, default=None
    Called with a ``Progress`` per step; an exception ends the fit.
estimator : scikit-learn estimator or None, default=None
    The learner, which gets the columns. None is histogram gradient boosting with a rate of 0.05.
n_copies : int >= 1, default=8
    Number of copies of every row, the row itself included.
factors : "auto" or (smallest, largest), default="auto"
    Range of the factors by which errors of copies are multiplied, log-uniform. A quarter of the copies have
    smaller errors than the row, if `smallest` is below 1. "auto" is from 0.1 until the typical error is twice
    the spread of the data (at most 8). Pass ``factors=(1, 4)`` if you know how large new errors will be.
per_feature : float in [0, 1], default=0.5
    Share of the rows in copies with larger errors in which only some features, a number drawn from 0 to d,
    have the row's factor, and the others 1. Use 0 if the errors of all features grow and shrink together.
error_columns : {"errors", "correlations", "skewness"}, default="errors"
    What the learner gets besides the means; see :class:`~uncertain.ErrorColumns`. Rows of several Gaussians
    have their skewness with "errors", too.
copy_components = n_components : int >= 1, default=5
    Number of Gaussians of the `GaussianDenoiser` from which true values are drawn for smaller errors.
n_trees : "auto" or int >= 0, default="auto"
    Trees of the default learner. "auto": as many (at most 1,280) as help objects that are held out with all
    their copies; 0 is a constant.
copy_seed = random_state : int, RandomState or None, default=None
    Seed of the copies, and of the learner if it has one.
learner_jobs = n_jobs : int or None, default=None
    Passed on to a learner that has it; the default one takes as many threads.
n_learners : "auto" or int >= 1, default="auto"
    Learners of the default kind, each fitted to copies and with random numbers of its own, all with the same
    number of trees; the model's score is the mean of theirs (of classes the mean log odds). "auto" is 4, and
    fewer for large fits; it is 1 where rows are exact, and for a learner of yours.
learner_ = estimator_ : fitted estimator
    The learner; of several, one that has the trees of all.
n_trees_ : int
    The number of trees of each default learner; 0 for a constant.
factors_ : (float, float)
    Smallest and largest factor.
error_columns_ : ErrorColumns
    The fitted transformer in front of the learner.
coef_ : ndarray of shape (1, d) or (K, d)
    w of each problem: one for two classes, one per class otherwise.
intercept_ : ndarray of shape (1,) or (K,)
    b of each problem.
kernel_map_ : KernelMap or None
    The map to the feature space; None for the linear kernel.
classes_ : ndarray of shape (K,)
    The labels, sorted.
em_weights_ = weights_ : ndarray of shape (K,)
    Shares pi_k.
n_components_ : int
    K.
held_out_log_likelihoods_ : ndarray
    Mean log-likelihood per held-out row for K = 1, 2, ...; only with ``n_components="auto"``.
em_n_iter_ = n_iter_ : int
    Passes over the rows after the first one: steps of EM, and extrapolations, kept or not.
em_status_ = status_ : str
    "converged", "max_iter" or "no_progress" (rounding prevents more).
law_outliers = outliers : {"student", "mixture"} or None, default=None
    Noise of the targets beside their error bars. "student": Student's distribution of scale
    (s^2 + t_i^2)^(1/2). "mixture": a share of bad data whose noise has a further width of their own, at least
    twice that of the others. For a curve, structural only.
law_degrees = degrees_of_freedom : float >= 1 or None, default=None
    Of "student"; None: estimated.
law_error_scale = error_scale : {"fit", "features", "both"} or None, default=None
    Error bars that are right up to a factor, which is estimated. "fit": those of the target, one factor for
    all. "features": those of each feature, with f_j, by maximum likelihood of the readings

    .. code-block:: text

        x_i ~ N(mu, T + F S_i F),    F = diag(f)

    before the law, whose standard errors count the uncertainty of f; predictions read new rows with the same
    factors. "both": all of them. Error bars of different sizes tell a factor from the scatter, or from the
    spread T of true values, which is assumed to be one normal spread for all sizes; where those of the target
    or of a feature are about equal, or too small to tell, it is refused. For a curve, structural only.
law_groups = groups : array-like of shape (n,), default=None
    The object that each row belongs to: standard errors are then those of independent groups, the sandwich

    .. code-block:: text

        V = H^-1 M H^-1,    M = G / (G - 1) sum_g u_g u_g'

    with the information H and the sums u_g of the G groups' scores (Liang and Zeger 1986). Fewer than 10
    groups are refused: for a line without ``outliers``, ``error_scale``, ``modes`` or ``y_cov`` by
    ``coef_std_`` and all that needs it, else by the fit.
outlier_probability_ : ndarray of shape (n,)
    With ``outliers``: probability of each row of the fit that its target is bad ("mixture"), or that its
    noise is more than three times as wide as its error bar and the scatter ("student").
outlier_law_ : dict of name and pair (estimate, standard error)
    With ``outliers``: "degrees_of_freedom", or "share" and "width" of bad data (of a curve, the width of the
    first output; others in proportion to their scatter).
error_scale_ = error_scale_, error_scale_std_ : float
    With ``error_scale`` "fit" or "both": the factor of the target's error bars, and its standard error.
feature_error_scale_ = feature_error_scale_, feature_error_scale_std_ : ndarrays of shape (d,)
    With ``error_scale`` "features" or "both": the factors of the features' error bars, and their standard
    errors.
modes_ = modes_, modes_std_ : ndarrays of shape (k,)
    With errors that rows share: their estimates in units of their standard deviations, and standard errors.
n_features_in_ : int
    Dimension d of the rows.
feature_names_in_ : ndarray of shape (d,)
    Names of the columns, if X was a table of scalar columns.
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
    """The class (with its methods), or the function, with the entries that its docstrings name put in."""
    parts: list[object] = [thing, *vars(thing).values()] if isinstance(thing, type) else [thing]
    for part in parts:
        # Methods that are there for some parameters only hold the function in `fn`.
        for held in {part, getattr(part, "fn", part)} if callable(part) or hasattr(part, "fn") else ():
            doc = getattr(held, "__doc__", None)
            if isinstance(doc, str):
                held.__doc__ = _filled(doc)
    return thing
