"""Error bars in a form that is not read: what they look like, and the line that makes them readable."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_INVERSE = re.compile(r"(?i)(?:^|(?<=[_.\- ]))ivar(?=$|[_.\- ])")
_PER_CENT = re.compile(r"(?i)[_.\- ](?:pct|percent|perc|rel|relative|frac)$|%")
_INTERVAL = re.compile(
    r"(?i)(?P<base>.+?)[_.\- ](?:95_?)?(?:ci|cl|conf|confidence)_?(?:95)?[_.\- ]?(?P<side>low|lower|lo|l)$"
)
_UPPER = {"low": "high", "lower": "upper", "lo": "hi", "l": "u"}


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
