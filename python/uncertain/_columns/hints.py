"""Error bars in a form that is not read, or that may not be meant: what to make of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from .bars import KINDS, listing

SUFFIXES = ("_err", "_error", "_std", "_se", "_sigma")
"""What messages give as examples of error columns; `ErrorNames` knows more."""

_INVERSE = re.compile(r"(?i)(?:^|(?<=[_.\- ]))ivar(?=$|[_.\- ])")
_PER_CENT = re.compile(r"(?i)[_.\- ](?:pct|percent|perc|rel|relative|frac)$")
_INTERVAL = re.compile(
    r"(?i)(?P<base>.+?)[_.\- ](?:95_?)?(?:ci|cl|conf|confidence)_?(?:95)?[_.\- ]?(?P<side>low|lower|lo|l)$"
)
_UPPER = {"low": "high", "lower": "upper", "lo": "hi", "l": "u"}

_DEVIATION = re.compile(r"(?i)(?:^|[_.\- (])(?:sd|std|stdev|stddev)(?:[_.\- )]|$)")
_COUNTS = ("{}_n", "n_{}", "{}_count", "count_{}", "n", "N", "count")
_MEAN = re.compile(r"(?i)^(?:mean|avg)[_.\- ]|[_.\- ](?:mean|avg)$")


def of_readings(errors: Mapping[str, str], names: Sequence[str]) -> Iterator[str]:
    """A sentence where numbers of readings stand beside means and standard deviations (`errors`, by mean):
    the deviation is that of the readings, and no error of their mean."""
    for value, std in errors.items():
        bases = dict.fromkeys((value, _MEAN.sub("", value)))
        counts = [name for base in bases for form in _COUNTS if (name := form.format(base)) in names]
        if counts and _DEVIATION.search(std):
            yield (
                f"if {counts[0]!r} counts the readings that {value!r} is the mean of, its error bar is "
                f"{std!r} / sqrt({counts[0]!r}): make a column of it in place of {std!r}, unless rows are "
                "populations"
            )
            return


def hints(names: Sequence[str]) -> Iterator[str]:
    """A sentence for each form that some of the columns have."""
    known = {*names}
    inverse = next((name for name in names if _INVERSE.search(name)), None)
    if inverse is not None:
        std = _INVERSE.sub("err", inverse)
        yield f"{inverse!r} looks like an inverse variance: make {std!r} = 1 / sqrt of it, empty if it is 0"
    share = next((name for name in names if _PER_CENT.search(name)), None)
    if share is not None and "err" in share.lower():
        std = _PER_CENT.sub("", share)
        yield f"{share!r} looks like an error relative to its value: make {std!r} = its share of the value"
    for name in names:
        match = _INTERVAL.fullmatch(name)
        upper = name[: match.start("side")] + _UPPER[match["side"].lower()] if match else ""
        if match and upper in known:
            base = match["base"]
            yield (
                f"{name!r} and {upper!r} look like a confidence interval of {base!r}: of one of 95 % make "
                f"'{base}_err' = (upper - lower) / 3.92; limits one standard deviation away are "
                f"bounds={{{base!r}: {(name, upper)!r}}}"
            )
            return


def no_error_bar(feature: str) -> str:
    """Why a feature that the caller named is refused."""
    endings = ", ".join(feature + s for s in SUFFIXES)
    return (
        f"feature {feature!r} has no error column (looked for {endings} and the like); name them with a "
        f'pattern, such as std="{{}}_uncertainty", or a dictionary, such as std={{{feature!r}: '
        f'"my_column"}}; exact=[{feature!r}] takes it as exact values'
    )


def no_errors(candidates: Sequence[str]) -> str:
    """Why a table without error bars is refused."""
    kinds = "/".join(kind for kind in KINDS if kind not in ("bounds",))
    meant = "".join(f"{hint}; " for hint in hints(candidates))
    return (
        f"no error bars found among the columns {listing(candidates)}: {meant}neither columns called mean "
        f"and {kinds}, nor pairs such as x and x{', x'.join(SUFFIXES)}, e_x or xErr; name them, such as "
        'features=["a", "b"], std="{}_uncertainty", or std={"a": "my_error_of_a"}; '
        'exact="all" takes all numbers as exact (scikit-learn\'s own subject)'
    )
