"""Parameters with a few possible values, and the nearest of several names."""

from collections.abc import Iterable, Sequence
from numbers import Real

from ..exceptions import ParameterError


def refuse_if(wrong: object, message: str, error: type[Exception] = ParameterError) -> None:
    """Raise the error where the condition holds."""
    if wrong:
        raise error(message)


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one that may have been meant, in whatever case; None if none is close."""
    import difflib  # for which "import uncertain" does not wait

    folded = {known.lower(): known for known in reversed([*names])}
    close = difflib.get_close_matches(name.lower(), folded, n=1)
    return folded[close[0]] if close else None


def did_you_mean(name: object, names: Iterable[str], quoted: str = "{!r}") -> str:
    """ "; did you mean 'x'?", or nothing."""
    meant = nearest(name, names) if isinstance(name, str) else None
    return "" if meant is None else f"; did you mean {quoted.format(meant)}?"


def check_options(**values: tuple[object, Sequence[str]]) -> None:
    for name, (value, options) in values.items():
        check_option(name, value, options)


def check_option(name: str, value: object, options: Sequence[str]) -> None:
    listed = ", ".join(f'"{option}"' for option in options)
    refuse_if(not (isinstance(value, str) and value in options), f"{name}={value!r}: must be one of {listed}")


def refuse_unknown(options: Iterable[str], known: Iterable[str], others: Iterable[str] = ()) -> None:
    """ParameterError for an option that is none of the `known` ones; it may also have been meant to be one of
    `others`."""
    known = [*known]
    for name in options:
        if name not in known:
            hint = did_you_mean(name, [*known, *others], "{}=")
            raise ParameterError(f"unknown option {name!r}{hint}")


def number_or_median(name: str, value: object) -> float | None:
    """A bandwidth or scale as a number, None for "median"."""
    if isinstance(value, str) and value == "median":
        return None
    if isinstance(value, Real):
        try:
            return float(value)
        except OverflowError:
            pass
    raise ParameterError(f'{name} = {value!r:.40}: must be a number > 0 or "median"')


def check_counts(**counts: tuple[object, int]) -> None:
    """Refuse what is not an integer of at least the given size: ``check_counts(folds=(folds, 2))``."""
    for name, (value, least) in counts.items():
        refuse_if(
            not isinstance(value, int) or value < least, f"{name}={value!r}: must be an integer >= {least}"
        )
