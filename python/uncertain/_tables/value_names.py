"""Names of values: what is left of the name of an error column, found among a table's columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from . import rules
from .error_names import Reading, folded, joined, phrased, quantile_of, readings, told, without_unit


class ValueNames:
    """Column names, found as they are or, where that is unique, without separators and capitals, without
    their unit, or without a word for "value"."""

    def __init__(self, names: Iterable[str], numeric: Collection[str] | None = None) -> None:
        self.names = {*names}
        self.numeric = numeric
        self.alike: dict[str, list[str]] = {}
        self.means: dict[str, list[str]] = {}
        words = "|".join(rules.VALUE_WORDS)
        for name in self.names:
            plain = without_unit(name)
            for key in {form(text) for form in (folded, joined) for text in (name, plain)}:
                self.alike.setdefault(key, []).append(name)
            behind = rf"(?i)[_.\- ](?:(?:{words})|[pq]?_?50 ?(?:%|th)?)$"
            forms = (rf"(?i)^(?:{words})[_.\- ]", behind, r"(?<=[a-z])(?:Value|Mean|Avg|Estimate)$")
            rests = {re.sub(form, "", plain) for form in forms}
            for rest in rests - {plain}:
                self.means.setdefault(folded(rest), []).append(name)

    def one(self, name: str) -> str | None:
        """Return the column of this name; where it holds text, the column of its mean."""
        column = next((text for text in (name, name.strip(rules.SEPARATORS)) if text in self.names), None)
        for key in (joined(name), folded(name), folded(without_unit(name))):
            column = column or _only(self.alike, key)
        if column is not None and self.numeric is not None and column not in self.numeric:
            mean = self.mean(column)
            return mean if mean is not None and mean in self.numeric else column
        return column

    def mean(self, name: str) -> str | None:
        """Return the column of the mean of a quantity, which is no column itself."""
        return _only(self.means, folded(name)) or _only(self.means, folded(without_unit(name)))

    def part(self, name: str) -> str | None:
        """Return the column of a name that ends with a word for the whole or a part of its error bar."""
        for form in (rf"(?i)[_. -](?:{rules.PART})[_. -]?$", rf"(?i)^(?:{rules.PART})[_. -]"):
            rest = re.sub(form, "", name)
            if rest != name and (value := self.one(rest) or self.mean(rest)):
                return value
        return None

    def read(self, column: str) -> list[tuple[str, Reading]]:
        """Return the columns that a column may be the error bar of: as it is called, and without words for
        its coverage."""
        found: list[tuple[str, Reading]] = []
        for form, pattern in enumerate(rules.LETTER_ARMS[:3]):
            match = pattern.match(column)
            if match is not None and match["base"] in self.names:
                upper = match["side"].lower() in rules.UPPER
                found.append((match["base"], Reading("", "arms", -10 - form, upper)))
        if (quantile := quantile_of(column)) is not None and (
            value := self._of_quantile(quantile[0], quantile[2])
        ):
            place = round(-100.0 - min(quantile[1], 100.0 - quantile[1]) * 10.0)
            found.append((value, Reading("", "limits", place, quantile[1] > 50.0)))
        if column[:2] in ("e_", "E_") and (value := self.one(column[2:])):
            found.append((value, Reading("", "arms", -1, column[0] == "E")))
            if column[0] == "e" and "E" + column[1:] not in self.names:
                found.append((value, Reading("", "std")))
        if column[:2] in ("b_", "B_") and (value := self.one(column[2:])):  # of VizieR
            found.append((value, Reading("", "limits", -2, column[0] == "B")))
        known = told(column)
        texts = {phrased(column): False, known.text: known.is_interval or known.sigmas is not None}
        for text, wide in texts.items():
            own = [*readings(text, wide=wide)]
            single = self._matched(column, [r for r in own if r.place is None], coverage=wide)
            sides = [r for r in own if r.place is not None and not (r.apart and single)]
            found += [*single, *self._matched(column, sides, coverage=False)]
            if single:
                break
        return found

    def _matched(self, column: str, own: Sequence[Reading], *, coverage: bool) -> list[tuple[str, Reading]]:
        """Return what is called like a value; else the mean whose quantity is no column, mean_x and x_error,
        or the value of what is called a part of its error bar."""
        exact = [(value, r) for r in own if (value := self.one(r.rest)) is not None and value != column]
        if exact:
            return list(dict.fromkeys(exact))
        for r in own:
            is_band = not coverage and re.search(r"(?i)[_. -]u[_. -]?$", r.rest)
            value = self.mean(r.rest) or (None if is_band else self.part(r.rest))
            is_middle = value is not None and re.search(
                r"(?i)(?:med(?:ian)?|best|est(?:imate)?|val(?:ue)?)$", value
            )
            is_told = is_middle or coverage or r.kind != "limits" or r.place is None
            if value is not None and value != column and is_told:
                return [(value, r)]
        return []

    def _of_quantile(self, rest: str, letter: str) -> str | None:
        """Return the median beside a quantile, or the value."""
        bare = rest.rstrip(rules.SEPARATORS)
        bare = re.sub(r"(?i)[_.\- ](?:hdi|eti|cri?|ci)$", "", bare)
        words = ("50", "50th", "med", "median", "mean")
        options = (f"{rest}{letter}50", *(f"{bare}_{word}" for word in words), bare)
        found = next((value for option in options if bare and (value := self.one(option))), None)
        return found or (self.mean(bare) if bare else None)


def _only(names: Mapping[str, list[str]], key: str) -> str | None:
    alike = names.get(key, []) if key else []
    return alike[0] if len(alike) == 1 else None


def lone_mark(column: str) -> tuple[str, bool] | str | None:
    """Return the mark of a name that is nothing else: an error word, or a form and a side of two columns."""
    known = told(re.sub(r"\.\d+$|_duplicated_\d+$", "", column))
    text = without_unit(known.text)
    quantile = quantile_of(without_unit(column))
    if quantile and re.fullmatch(r"(?i)(?:hdi|eti|ci|cri)?", quantile[0].strip(rules.SEPARATORS)):
        return f"{min(quantile[1], 100.0 - quantile[1]):g} %", quantile[1] > 50.0
    bare = re.sub(rf"(?i)[()\[\]]|(?<![a-z])(?:{rules.PART}|abs)(?![a-z])", "", text).strip(" _.-")
    if rules.LONE.match(bare):
        return bare
    if match := rules.LONE_ARM.match(bare):
        return "arms", (match["side"] or match["side2"]).lower() in rules.UPPER
    match = rules.LONE_END.match(text) or rules.LONE_END.match(bare)
    if match is not None and (len(match["side"]) > 1 or known.is_interval or known.sigmas is not None):
        is_told = known.is_interval or known.sigmas is not None or match["limit"]
        return (f"limits {known.sigmas}" if is_told else "ends"), match["side"].lower() in (*rules.UPPER, "r")
    return None


def abbreviation(column: str) -> str | None:
    """Return what is left of a name that has an error word at an end: W for sigW, hls for unc_hls."""
    text = told(column).text
    match = rules.ABBREVIATED.match(without_unit(text))
    if match is None or any(word in text.lower() for words in rules.PAIR_WORDS.values() for word in words):
        return None
    rest = match["rest"] or match["head"]
    glued = match["first"] and text[len(match["first"])] not in rules.SEPARATORS
    if glued and (match["first"].lower() not in ("sig", "err", "unc") or text.lower().startswith("signif")):
        return None
    rest = re.sub(rf"(?i)[_. -](?:{rules.PART})$", "", rest)
    return str(rest) if rest.strip(rules.SEPARATORS) else None


def abbreviates(rest: str, value: str, *, adjacent: bool) -> bool:
    """May `rest` stand for the name: one of its words, its beginning or end, or letters of it in order?"""
    short = re.sub(r"[^a-z0-9]", "", rest.lower())
    words = [word for word in re.split(r"[^a-z0-9]+", without_unit(value).lower()) if word]
    whole = "".join(words)
    if not short or not whole or (short == whole and "," in rest):
        return False
    if short in words or (len(short) > 2 and whole.endswith(short)) or whole.startswith(short):
        return True
    letters = iter(whole)
    in_order = whole[0] == short[0] and all(letter in letters for letter in short)
    return in_order or (adjacent and len(short) < 4 and short[0] == whole[0])


def named_pairs(names: Sequence[str], features: Iterable[str]) -> dict[str, dict[tuple[str, str], str]]:
    """Columns of correlations ("corr") and of covariances ("cov") of two features: ``a_b_corr``, ``cov_a_b``.

    Covariances may be of one feature twice: its variance.
    """
    known = set(features)
    found: dict[str, dict[tuple[str, str], str]] = {"corr": {}, "cov": {}}
    for kind, words in rules.PAIR_WORDS.items():
        forms = [re.compile(rf"(?i)^(?:{word}[_.\- ](?P<a>.+)|(?P<b>.+)[_.\- ]{word})$") for word in words]
        for column in names:
            match = next(filter(None, (form.match(column) for form in forms)), None)
            rest = "" if match is None else match["a"] or match["b"]
            for k in range(1, len(rest)):
                pair = rest[:k], rest[k + (rest[k] in rules.SEPARATORS) :]
                is_pair = {*pair} <= known and (pair[0] != pair[1] or kind == "cov")
                if is_pair and pair[::-1] not in found[kind]:
                    found[kind].setdefault(pair, column)
    return found


def is_called_matrix(column: str) -> bool:
    """Is one of its words that for a covariance?"""
    return any(part in rules.PAIR_WORDS["cov"] for part in re.split(r"[_.\- ]", column.lower()))
