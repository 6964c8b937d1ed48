//! Numbers in JSON, which has no infinity and no NaN: they are the strings "inf", "-inf" and "nan".
//!
//! Formats that people do not read have both, and there a number is what it is.
//!
//! One encoding for parameters on their way from other languages (so that `alpha = inf` is refused as what it is)
//! and for reports in model files (a gap that is not known is NaN). Use it as `#[serde(with = "number")]` of an
//! `f64`, `number::option` of an `Option<f64>`, `number::list` of an `Option<Vec<f64>>`, and `number::median` of what may
//! also be the word "median".

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number, or the name of one that JSON lacks.
#[derive(Clone, Copy)]
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            x if !serializer.is_human_readable() => serializer.serialize_f64(x),
            x if x.is_finite() => serializer.serialize_f64(x),
            x if x.is_nan() => serializer.serialize_str("nan"),
            x if x > 0.0 => serializer.serialize_str("inf"),
            _ => serializer.serialize_str("-inf"),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return f64::deserialize(deserializer).map(Self);
        }
        deserializer.deserialize_any(Wanted(None)).map(|x| Self(x.unwrap_or(f64::NAN)))
    }
}

/// A number, or this word: `None`.
struct Wanted(Option<&'static str>);

impl serde::de::Visitor<'_> for Wanted {
    type Value = Option<f64>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a number")?;
        self.0.map_or(Ok(()), |word| write!(f, " or {word:?}"))
    }

    fn visit_f64<E>(self, x: f64) -> Result<Option<f64>, E> {
        Ok(Some(x))
    }

    fn visit_u64<E>(self, x: u64) -> Result<Option<f64>, E> {
        Ok(Some(x as f64))
    }

    fn visit_i64<E>(self, x: i64) -> Result<Option<f64>, E> {
        Ok(Some(x as f64))
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Option<f64>, E> {
        match name {
            "inf" => Ok(Some(f64::INFINITY)),
            "-inf" => Ok(Some(f64::NEG_INFINITY)),
            "nan" => Ok(Some(f64::NAN)),
            word if Some(word) == self.0 => Ok(None),
            _ => Err(E::invalid_value(serde::de::Unexpected::Str(name), &self)),
        }
    }
}

pub(crate) fn serialize<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Number(*x).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Number::deserialize(deserializer).map(|x| x.0)
}

/// The number of an `Option<f64>`; none is null.
pub(crate) mod option {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(x: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        x.map(Number).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        Ok(Option::<Number>::deserialize(deserializer)?.map(|x| x.0))
    }
}

/// The numbers of an `Option<Vec<f64>>`.
pub(crate) mod list {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(x: &Option<Vec<f64>>, serializer: S) -> Result<S::Ok, S::Error> {
        x.as_ref().map(|x| x.iter().map(|x| Number(*x)).collect::<Vec<_>>()).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<f64>>, D::Error> {
        Ok(Option::<Vec<Number>>::deserialize(deserializer)?.map(|x| x.into_iter().map(|x| x.0).collect()))
    }
}

/// A number or "median", of a type that is an `Option<f64>` in other words.
pub(crate) mod median {
    use super::*;

    pub(crate) fn serialize<S: Serializer, T: Copy + Into<Option<f64>>>(x: &T, out: S) -> Result<S::Ok, S::Error> {
        match (*x).into() {
            Some(x) => Number(x).serialize(out),
            None => out.serialize_str("median"),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: From<Option<f64>>>(from: D) -> Result<T, D::Error> {
        from.deserialize_any(Wanted(Some("median"))).map(T::from)
    }
}

/// A limit: null, or -1 as in scikit-learn, is none.
pub(crate) mod limit {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(x: &Option<usize>, out: S) -> Result<S::Ok, S::Error> {
        x.serialize(out)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<usize>, D::Error> {
        match Option::<i128>::deserialize(from)? {
            None | Some(-1) => Ok(None),
            // A negative count is as wrong as zero, which the check refuses.
            Some(n) => Ok(Some(usize::try_from(n).unwrap_or(0))),
        }
    }
}

/// Bytes, which users count in MB.
pub(crate) mod megabytes {
    use super::*;

    const MB: f64 = (1 << 20) as f64;

    pub(crate) fn serialize<S: Serializer>(bytes: &usize, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_f64(*bytes as f64 / MB)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
        match super::deserialize(from)? {
            size if size > 0.0 && size.is_finite() => Ok((size * MB) as usize),
            _ => Err(serde::de::Error::custom("it must be a finite number of MB > 0")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Serialize, Deserialize)]
    struct All {
        #[serde(with = "super")]
        one: f64,
        #[serde(with = "super::option")]
        some: Option<f64>,
        #[serde(with = "super::list")]
        list: Option<Vec<f64>>,
        #[serde(with = "super::median")]
        median: Option<f64>,
    }

    #[test]
    fn every_number_comes_back() {
        for x in [0.0, -0.0, 0.1, 5e-324, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            let all = All { one: x, some: Some(x), list: Some(vec![x, 1.0]), median: Some(x) };
            let again: All = serde_json::from_str(&serde_json::to_string(&all).unwrap()).unwrap();
            for y in [again.one, again.some.unwrap(), again.list.unwrap()[0], again.median.unwrap()] {
                assert!(y.to_bits() == x.to_bits() || (x.is_nan() && y.is_nan()), "{x} {y}");
            }
        }
        let none =
            serde_json::to_string(&All { one: f64::NEG_INFINITY, some: None, list: None, median: None }).unwrap();
        assert_eq!(none, r#"{"one":"-inf","some":null,"list":null,"median":"median"}"#);
        let wrong =
            serde_json::from_str::<All>(r#"{"one":"one","some":null,"list":null,"median":1}"#).unwrap_err().to_string();
        assert!(wrong.contains(r#"string "one", expected a number"#), "{wrong}");
        let whole: All = serde_json::from_str(r#"{"one":1,"some":-2,"list":[],"median":"median"}"#).unwrap();
        assert_eq!((whole.one, whole.some), (1.0, Some(-2.0)));
    }
}
