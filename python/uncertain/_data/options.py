"""Parameters with a few possible values, and names that were mistyped: what was meant."""

from __future__ import annotations

import difflib
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from numbers import Real
from types import FunctionType
from typing import ParamSpec, TypeVar

from ..exceptions import ParameterError

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one that may have been meant, in whatever case; None if none is close."""
    folded: dict[str, str] = {}
    for known in names:
        folded.setdefault(known.lower(), known)
    close = difflib.get_close_matches(name.lower(), folded, n=1)
    return folded[close[0]] if close else None


def did_you_mean(name: object, names: Iterable[str], quoted: str = "{!r}") -> str:
    """ "; did you mean 'x'?", or nothing."""
    meant = nearest(name, names) if isinstance(name, str) else None
    return "" if meant is None else f"; did you mean {quoted.format(meant)}?"


def check_options(**given: tuple[object, Sequence[str]]) -> None:
    """`check_option` of several parameters: their values and options. The error names all that are wrong."""
    wrong = [text for name, (value, options) in given.items() if (text := _no_option(name, value, options))]
    if wrong:
        raise ParameterError("; ".join(wrong))


def check_option(name: str, value: object, options: Sequence[str]) -> None:
    """Refuse a value that is none of the options."""
    check_options(**{name: (value, options)})


def refuse_unknown(options: Iterable[str], known: Iterable[str], others: Iterable[str] = ()) -> None:
    """ParameterError for an option that is none of the `known` ones; it may also have been meant to be one of
    `others`."""
    known = [*known]
    for name in options:
        if name not in known:
            hint = did_you_mean(name, [*known, *others], "{}=")
            raise ParameterError(f"unknown option {name!r}{hint}")


def _no_option(name: str, value: object, options: Sequence[str]) -> str:
    """What is wrong with the value; "" if it is one of the options."""
    if isinstance(value, str) and value in options:
        return ""
    listed = ", ".join(f'"{option}"' for option in options)
    return f"{name}={value!r}: must be one of {listed}{did_you_mean(value, options)}"


def with_hint(error: ParameterError) -> ParameterError:
    """An error of the core about an option, with what may have been meant."""
    told = re.fullmatch(r'\w+ = "(.*)": must be one of (.*)', str(error))
    return error if told is None else ParameterError(f"{error}{did_you_mean(told[1], told[2].split(', '))}")


def hinting(function: Callable[P, R], called: str = "") -> Callable[P, R]:
    """The same function, whose error about an unknown keyword argument says what may have been meant.

    Python says so from version 3.13 on. `called`: how callers know it.
    """
    code = function.__code__
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in known and (hint := did_you_mean(name, known)):
                raise TypeError(
                    f"{called or function.__qualname__}() got an unexpected keyword argument {name!r}{hint}"
                )
        return function(*args, **kwargs)

    return call


def hinting_methods(cls: C) -> C:
    """The class, whose public methods are `hinting`."""
    for name, member in [*vars(cls).items()]:
        if isinstance(member, FunctionType) and not name.startswith("_"):
            setattr(cls, name, hinting(member))
    return cls


def hinting_constructor(cls: C) -> C:
    """The class, whose constructor is `hinting`."""
    made = vars(cls).get("__init__", getattr(cls, "__init__", None))
    if isinstance(made, FunctionType) and not made.__code__.co_flags & inspect.CO_VARKEYWORDS:
        setattr(cls, "__init__", hinting(inspect.unwrap(made), cls.__name__))  # noqa: B010
    return cls


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
