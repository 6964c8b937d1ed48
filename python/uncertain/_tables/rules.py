"""Rules of what a column of a table may be: names propose a role, numbers confirm it.

`RULES` is the table for people, which the page "Describe your table" shows; below are the words and the
patterns of names that it is made of. `error_names` has the grammar in which words stand in a name, `contents`
what numbers confirm, `unread` the words for what is left out.
"""

# ruff: noqa: E501

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple


class Rule(NamedTuple):
    """What a column of such a name may be, for a value ``x``."""

    names: str
    numbers: str
    """What its numbers must be for it."""
    read: str
    """What is done."""


RULES = (
    Rule("x_err, xErr, x_std, x_se, x_sigma, x_unc, e_x, sigma_x, x (SD), x ±, σ(x), u(x), x Fehler; inside: psfMagErr_u, w1sigmpro", "not below zero, a code aside; not 0 and 1 alone; of std_x: smaller than the values", "one standard deviation"),
    Rule("x_err or x_se beside x_mean, mean_x, x_value, xValue", "the same", "error bar of the mean"),
    Rule("x_var, x_variance, cov_x_x; vi of yi, with a warning", "the same", "variance"),
    Rule("x_err1 and x_err2, x_err_max and x_err_min, E_x and e_x, x_ep and x_em", "any sign", "upper and lower arm"),
    Rule("x_upper and x_lower, xUpper and xLower, x_hi and x_lo, x_plus and x_minus, x+ and x-", "of all columns called so: around the values, or arms", "limits or arms; a warning says that no name tells their level"),
    Rule("x_84 and x_16, x_p95 and x_p05, x_97.5% and x_2.5%, hdi_97% and hdi_3%, u68 and l68", "in this order", "limits of this level"),
    Rule("x 2SE, x ± (2σ), x_2s, x (k=2), x error (95%), x_95CI_low and x_95CI_high", "as without the level", "divided by 2, or by the quantile of the level"),
    Rule("x RSD%, x_err_pct, x err (%), ±%, x_rel_err", "per cent, or below 1", "times the value"),
    Rule("x err [mJy] beside x [Jy]", "", "converted, if astropy knows both units; left out if they do not fit"),
    Rule("dx, delx, eX, E_x, s_x, x_e, x_u, x_su, seX, sd1i of m1i", "of all columns with the mark: not below zero; smaller than the values, and not their steps", "one standard deviation, if x has no other"),
    Rule("Error, ±, 2SE, error + and error - right of x; sigW, unc_w right of width", "smaller than the values", "error bar of x, of width"),
    Rule("sd and se_mean, mcse_mean beside r_hat, n_eff, ess_bulk", "", "sd, the spread of the draws, is the error bar"),
    Rule("l_x, x_lim, x_ul; x_detected, the other way around", "<, >, truth values, or -1, 0, 1", "limits where the method takes limits, else named for limits={'x': 'l_x'}"),
    Rule("x itself", "cells such as <0.5", "limits; <LOD without a number is unknown"),
    Rule("a_b_corr, cov_a_b, cov_ab; lists mean and cov", "", "correlations and covariances"),
    Rule("upper_limit, nondetect, Detected, Qualifier beside x; text of any name", "flags; < and > alone", "asked: limits={'x': 'nondetect'}"),
    Rule("x_sd or x_std with a count: n, N, n_x, nobs; n1i", "whole numbers", "asked, the spread of n readings: a column of sd / √n, or columns={'x': 'x_sd'} if rows are populations"),
    Rule("x_ci_low and x_ci_high, upper and lower, margin of error", "limits: around the values", "asked, no level: bounds={'x': ('x_ci_low', 'x_ci_high')}, level=0.95"),
    Rule("x_p90 and x_p10, x_q3 and x_q1", "", "asked, of an error, or of a population: bounds={...}, level=0.8"),
    Rule("x_low and x_high", "ends that do not join", "asked, limits, or the ends of a bin: bounds={'x': ('x_low', 'x_high')}"),
    Rule("x_sd beside x_min and x_max; s_x with numbers of members", "", "asked, a spread: std={'x': 's_x'}"),
    Rule("x_tol, beside y_tol of y", "much smaller than x", "asked: columns={'x': 'x_tol', ...}"),
    Rule("stat, syst, stat + and sys -", "", "a part of an error bar: named"),
    Rule("x_ivar, x_logvar, log_sigma_x, x_over_error", "", "named: a column of 1 / √ivar (null where it is 0), exp(logvar / 2), exp(log_sigma), x / it"),
    Rule("covariance_0 ... covariance_8, hAcc and vAcc, LOD, MDL; any error word without a value", "", "named; never exact features"),
    Rule("flag, quality, x_q; id, objid", "whole numbers", "named: categorical=[...]; nothing"),
    Rule("all others", "", "named: exact=[...]; exact=\"all\" takes all that look like no error bar, limit or flag"),
)  # fmt: skip
"""The rule, the first that fits; of several error bars of a value arms come before standard deviations, these
before limits, and the whole (``x_Prop2SE``) before a part. What has arms of its own is a value."""


# -- words

VARIANCES = ("variance", "var")
WORDS = (
    *("uncertainties", "uncertainty", "uncert", "unc", "errors", "error", "err", "stderr", "stddev", "stdev"),
    *("std", "sigma", "spread", *VARIANCES, "unsicherheit", "fehler", "incertitude", "erreur", "errore"),
    *("incertidumbre", "incerteza", "incertezza", "esd", "sem", "se", "sd"),
)
"""Words for an error bar; those of two letters only between separators, where they are no part of others."""
UPPER = ("upper", "plus", "pos", "high", "up", "hi", "max", "ub", "1", "p", "u")
LOWER = ("lower", "minus", "neg", "low", "down", "lo", "min", "lb", "2", "m", "l")
"""Which arm of an asymmetric error bar, place by place the opposite of the list above."""
PLACES = {side: k for k, pair in enumerate(zip(UPPER, LOWER, strict=True)) for side in pair} | {"d": 10}
VALUE_WORDS = ("mean", "avg", "average", "mu", "value", "val", "estimate", "est", "best", "median", "med")
"""Words of a value beside its error bar, where the quantity itself is no column: x_mean and x_se."""
BEST, PARTIAL, OTHERS = (
    ("prop", "propagated", "total", "tot"),
    ("int", "internal", "rand", "random", "stat", "sys", "syst"),
    ("diag", "meas", "formal", "expanded", "combined", "standard", "joint", "u"),
)
"""Words for the whole of an error bar, for a part of it, and for neither."""
SPREAD = "_spread"
"""The ending of columns that say by their name that rows are populations, not readings."""
OF_POPULATIONS = ("std", "stdev", "stddev", "sd", "variance", "var")
"""Words that beside a mean are about the population that it is the mean of."""
PAIR_WORDS = {"corr": ("correlation", "corr", "rho"), "cov": ("covariance", "covar", "cov")}
"""Words for what two features have in common."""
SEPARATORS = "_.- "

WORD = "|".join(sorted(WORDS, key=len, reverse=True))
_SIDES = sorted(PLACES, key=len, reverse=True)
SIDE, LONG_SIDE = "|".join(_SIDES), "|".join(side for side in _SIDES if len(side) > 1)
LIMIT = r"(?:[_.\- ]?(?:limits?|lim|bounds?|bnd|whiskers?))?"
PART = "|".join((*BEST, *PARTIAL, *OTHERS))

# -- names of a kind

CHAINS = re.compile(
    r"(?i)^(?:.*[_. ])?(?:r[_.]?hat|n[_.]?eff|(?:(?:bulk|tail)[_.])?ess(?:[_.](?:bulk|tail))?"
    r"|(?:naive|time-series) se)$"
)
"""Diagnostics of chains of draws: a standard error beside them is that of the mean of the draws."""
COUNT = re.compile(
    r"(?i)^(?:n|nb|nr|no|num|number|nobs|npts?|counts?|cases|size|sample[_. ]?size|n[_ ]?total|n\d+i?)$|"
    r"(?:^|[_. -])(?:n|nobs|npts?|counts?|total[_ ]?n|size)$|^counts?[_. ]|(?-i:[a-z]Npt$)|"
    r"^(?:n|nb|nr|num|number)[_. ](?:of[_. ])?\w+$|(?-i:^N(?:b|um)?[A-Z][a-z]+$)"
)
"""Names of numbers of readings, persons or cases."""
DEVIATION = re.compile(
    r"(?i)(?:^|[_.\- (])(?:[1-3] ?)?(?:sd|std|stdev|stddev|standard dev(?:iation|\.)?)(?:[_.\- )]|$)"
    r"|(?-i:[a-z](?:Std|SD)$)|^sd\d+i?$"
)
"""Names of standard deviations, be they of readings or of their mean."""
IDENTIFIER = re.compile(
    r"(?i)(?:^|[_. -])(?:id|ident|identifier|no|nr|idx|uuid|fips|geoid)$|(?-i:[a-z]ID$)|objid|^idx?_"
)
QUALITY = re.compile(
    r"(?i)(?:^|[_. -])(?:q|qc|qa|qf|flags?|quality|qual|warning|status|mask|bitmask)(?:$|[_. -])|"
    r"(?:flag|warning|quality|bitmask|(?-i:[a-z]QC))s?$"
)

LETTER_ARMS = (
    re.compile(rf"^(?P<base>.+)_e_?(?P<side>{SIDE})$", re.IGNORECASE),
    re.compile(rf"^e_?(?P<side>{SIDE})_(?P<base>.+)$", re.IGNORECASE),
    re.compile(rf"^e_(?P<base>.+)_(?P<side>{LONG_SIDE})$", re.IGNORECASE),
    re.compile(r"^e(?P<side>[ud])(?P<base>.+)$"),
)
"""The letter e and a side: x_ep and x_em, ehi_x and elo_x, e_x_up and e_x_low, eux and edx."""
LETTERS = (
    (re.compile(r"^[dδΔ]_?(?=.)"), ""), (re.compile(r"^D_?(?=[^a-z]+$)"), ""),
    (re.compile(r"^e(?=[A-Z])"), ""), (re.compile(r"^s_"), ""), (re.compile(r"^E_"), ""),
    (re.compile(r"^U(?=[A-Z\d]{2,}$)"), ""),
    (re.compile(r"_e$"), ""), (re.compile(r"_[uU]$"), ""), (re.compile(r"_su$"), ""),
    (re.compile(r"^del_?(?=.)"), ""), (re.compile(r"^s[ed](?=[A-Z])|(?<=[a-z])S[ED]$"), ""),
    (re.compile(r"(?<=_\d\d\d)M$"), "E"),  # margins of the American Community Survey
    (re.compile(r"sig"), ""),  # WISE's w1sigmpro of w1mpro
    # yi, sei and vi, or m1i and sd1i, of analyses of several studies
    (re.compile(r"^(?:se|v)(?=i$)"), "y"), (re.compile(r"^s[de](?=\d+i$)"), "m"), (re.compile(r"^s[de](?=\d+$)"), "mean"),
)  # fmt: skip
"""Marks of one to three letters, and what stands in their place in the name of the value."""
ABBREVIATED = re.compile(
    rf"(?i)^(?:(?P<first>{WORD}|sig)[_. -]?(?P<rest>.+)"
    rf"|(?P<head>.+?)(?:[_. -](?:{WORD}|sig)|(?-i:(?<=[a-z])S[ED])))$"
)
FLAGS = (
    re.compile(r"(?i)^(?P<base>.+?)[_. -]?(?:lim(?:it)?(?:[_. -]?flag)?|l_?flag)$"),
    re.compile(r"(?i)^(?P<base>.+)[_. -](?:ul|ulim|uplim|is_limit|(?:upper|lower)_?lim(?:it)?(?:_flag)?"
               r"|cens(?:ored)?|qual(?:ifier)?|sign|operator|op|symbol|relation|comparator|(?:is_)?detect(?:ed)?)$"),
    re.compile(r"(?i)^(?:l|lim|limit|f_lim|cens(?:ored)?|operator|op)_(?P<base>.+)$"),
)  # fmt: skip
"""Names of columns that may flag limits of another; what they hold decides."""
LONE_FLAG = re.compile(
    r"(?i)^(?:is_?)?(?:(?:upper|lower)_?lim(?:it)?|u_?lim|uplim|ul|limit|cens(?:ored)?|(?:non_?)?detect(?:s|ed|ion)?|"
    r"qualifier)(?:_?flag)?$"
)
"""Flags of limits without a name of a value: of that on the left."""
ENDS = (
    re.compile(rf"(?i)^(?P<base>.+?)(?:[_. -]?code)?[_. -]?(?P<side>low|high|lo|hi|lower|upper){LIMIT}$"),
    re.compile(rf"(?i)^(?P<side>low|high|lower|upper){LIMIT}[_. -](?P<base>.+)$"),
)
MEMBERS = re.compile(
    r"(?i)^(?:nb|nr|num|number|n)[_. ]?(?:of[_. ])?(?:\d*|star|mem|gal|src|source|obj|spec)s?\w{0,4}$|members"
)
"""Names of counts of members of a group."""
PARTS = re.compile(
    r"(?i)^(?:stat|sys|syst|lumi|model|theo|scale|pdf|total|uncorr|corr)\b.*[+-]$|^(?:stat|syst?)(?:[.,].*)?$"
)
"""Sources of error and a side, as HEPData writes them beside the one measured column."""
LONE = re.compile(rf"(?i)^(?:u )?(?:{WORD})(?: err)*$")
LONE_ARM = re.compile(rf"(?i)^(?:{WORD})[_. -]?(?P<side>{SIDE})$|^(?P<side2>plus|minus)$")
NO_FEATURES = re.compile(
    r"(?i)(?:^|[_.\- ])(?:lo[dq]|mdl|detection[_ ]limit|cov(?:ar(?:iance)?)?[_.\[( ]*\d+\W*|covariance(?:_type)?)$"
    r"|(?:^|[_. ])(?:h|v|horizontal|vertical)[_. ]?acc(?:uracy)?$"
)
"""Limits of detection, entries of matrices of covariances, and accuracies of positions."""
GREEK = re.compile(r"(?i)^(?:alpha|beta|gamma|delta|eps(?:ilon)?|theta|kappa|lambda|nu|rho|tau|phi|omega)$")
LONE_END = re.compile(rf"(?i)^(?P<side>{LONG_SIDE}|[ulr])(?P<limit>{LIMIT})$")


_DERIVED = tuple(
    (re.compile(rf"(?i)(?:^|(?<=[_.\- ]))(?:{words})(?=$|[_.\- ])"), meaning, formula)
    for words, meaning, formula in (
        (r"(?:over|div)[_ ]?err(?:or)?", "value over its error bar", "value / it"),
        (r"ivar|inv(?:erse)?[_ ]?var(?:iance)?", "inverse variance", "1 / sqrt of it"),
        (r"(?:log|ln)[_ ]?var(?:iance)?", "logarithm of a variance", "exp(it / 2)"),
        (r"(?:log|ln)[_ ]?(?:std|sigma|scale)", "logarithm of a standard deviation", "exp(it)"),
    )
)
"""Functions of an error bar, which weights and networks have."""


@cache
def derived(name: str) -> str:
    """Return of which function of an error bar a column has the name, and what is read; "" for others."""
    return next(
        (f"{what}; a column {form.sub('err', name)} = {formula} is read"
         for form, what, formula in _DERIVED if form.search(name)), "",
    )  # fmt: skip


# -- what cells and flags hold

SIGNS = {"<": -1, "<=": -1, "U": -1, "ND": -1, ">": 1, ">=": 1, "=": 0, "": 0}
"""Meanings of flags that are strings, such as the l_ columns of VizieR have."""
DETECTION = re.compile(r"(?i)(?<!non)(?<!not)(?<!non_)(?<!not_)detect(?:s|ed|ion)?(?:_?flag)?$")
"""Names of flags that are 1 or True for values, and 0 or False for upper limits."""
SIGNS_OF_DETECTIONS = SIGNS | {"n": -1, "no": -1, "false": -1, "y": 0, "yes": 0, "true": 0}
NO_NUMBER = r"^\s*(?:[<>]=?\s*(?:lod|loq|mdl|dl|rl)?|n\.?d\.?|bdl|b\.d\.|(?:not|non)[- ]?detect(?:ed)?)\s*$"
"""Cells of a laboratory that say that a value was too small to be measured."""
LIMIT_IN_TEXT = r"^\s*([<>])=?\s*(?:(?:lod|loq|mdl|dl|rl)\b[\s:=]*)?"
"""What is in front of the number in a cell such as "<0.5" or "<LOD 0.5"."""
_UPPER_FLAGS = (
    "ul ulim uplim upperlim upperlimit isupperlimit isul nd nondetect nondetection bdl belowlod lod lt"
)
_LOWER_FLAGS = "ll llim lolim lowerlim lowerlimit islowerlimit isll gt"
FLAG_WORDS = {w: s for words, s in ((_UPPER_FLAGS, -1), (_LOWER_FLAGS, 1)) for w in words.split()}
"""Words beside the name of a value that tell the sign of a flag of 1."""
