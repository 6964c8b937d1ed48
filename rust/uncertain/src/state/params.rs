//! Parameters in JSON: one definition (serde's of the `Params` struct) for model files and for other languages.
//!
//! A file holds the struct as it is, strictly: every field, no other ones. Other languages send any of the names
//! that users write, all on one level: `{"C": 2.0, "tol": 1e-4}`; what is not there keeps its default, and fields of the
//! inner structs ([`GROUPS`]) count as the struct's own. Names and types are those of the struct's own JSON, so a new
//! parameter needs nothing here.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::control::Control;
use crate::error::{Error, Result};
pub use crate::params::Valid;

/// Parameters of a fit, not yet checked; their default is that of every parameter.
pub trait Parameters: Serialize + DeserializeOwned + Default + Clone + PartialEq + Debug + Send + Sync {
    /// These parameters, if all are in range.
    fn check(self) -> Result<Valid<Self>> {
        Ok(Valid(self))
    }

    /// How its fits are run: no part of the parameters, and in no file. `None`: there is nothing to run.
    fn control_mut(&mut self) -> Option<&mut Control> {
        None
    }
}

/// For a fit that has nothing to choose.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoParams {}

impl Parameters for NoParams {}

impl<P: Serialize> Serialize for Valid<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, P: Parameters> Deserialize<'de> for Valid<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let params = P::deserialize(deserializer)?;
        check_counts(&params).and_then(|()| params.check()).map_err(serde::de::Error::custom)
    }
}

/// The largest count, 2^53: what every language reads as it is, and far from where adding to it would wrap around.
const MOST: u64 = 1 << 53;

/// Are all counts among the parameters (`max_iter`, `folds`, ...) below [`MOST`]? Seeds may be any number.
fn check_counts<P: Serialize>(params: &P) -> Result<()> {
    object(params).and_then(check_fields)
}

fn check_fields(fields: Map<String, Value>) -> Result<()> {
    fn largest(name: &str, value: &Value) -> Result<()> {
        match value {
            Value::Object(fields) => fields.iter().try_for_each(|(name, value)| largest(name, value)),
            Value::Array(values) => values.iter().try_for_each(|value| largest(name, value)),
            Value::Number(number) if name != "seed" && number.as_u64().is_some_and(|n| n > MOST) => {
                Err(Error::parameter(name, number, "at most 2^53"))
            }
            _ => Ok(()),
        }
    }
    fields.iter().try_for_each(|(name, value)| largest(name, value))
}

/// Structs inside of parameters whose fields users write among the others.
const GROUPS: [&str; 3] = ["options", "calibration", "em"];

/// Parameters from JSON text with any of the names that users write.
pub fn from_named<P: Parameters>(json: &str) -> Result<P> {
    let mut found = None;
    let mut read = |fields| serde_json::from_value::<P>(Value::Object(fields)).map(|params| found = Some(params));
    read_named(json, &defaults::<P>()?, &mut read)?;
    let params = found.ok_or_else(|| Error::Internal("parameters that nobody read".into()))?;
    check_counts(&params).map(|()| params)
}

/// Reads all fields of parameters. One copy of what is done with the names serves all types of parameters.
type Read<'a> = &'a mut dyn FnMut(Map<String, Value>) -> serde_json::Result<()>;

fn read_named(json: &str, defaults: &Map<String, Value>, read: Read<'_>) -> Result<()> {
    let given: Map<String, Value> =
        serde_json::from_str(json).map_err(|e| Error::Data(format!("parameters: not a JSON object ({e})")))?;
    let mut all = defaults.clone();
    for (name, value) in &given {
        match place(&mut all, name) {
            Some(place) => *place = value.clone(),
            None => {
                let one = format!("one of {}", ungrouped_names(defaults).join(", "));
                return Err(Error::parameter(name.as_str(), shown(value), one));
            }
        }
    }
    let Err(error) = read(all) else { return Ok(()) };
    Err(culprit(&given, defaults, read).unwrap_or_else(|| Error::Data(format!("parameters: {error}"))))
}

/// The names that users write, as JSON object with the values of these parameters.
pub fn to_named<P: Parameters>(params: &P) -> Result<String> {
    object(params).map(ungrouped)
}

fn ungrouped(mut all: Map<String, Value>) -> String {
    for group in GROUPS {
        if matches!(all.get(group), Some(Value::Object(_)))
            && let Some(Value::Object(inner)) = all.remove(group)
        {
            all.extend(inner);
        }
    }
    Value::Object(all).to_string()
}

/// The names that users write.
pub fn names<P: Parameters>() -> Result<Vec<String>> {
    Ok(ungrouped_names(&defaults::<P>()?))
}

fn ungrouped_names(fields: &Map<String, Value>) -> Vec<String> {
    fields
        .iter()
        .flat_map(|(name, value)| match value {
            Value::Object(inner) if GROUPS.contains(&name.as_str()) => inner.keys().cloned().collect(),
            _ => vec![name.clone()],
        })
        .collect()
}

fn defaults<P: Parameters>() -> Result<Map<String, Value>> {
    object(&P::default())
}

fn object<P: Serialize>(params: &P) -> Result<Map<String, Value>> {
    match serde_json::to_value(params) {
        Ok(Value::Object(fields)) => Ok(fields),
        other => Err(Error::Internal(format!("parameters are not a JSON object: {other:?}"))),
    }
}

fn place<'a>(fields: &'a mut Map<String, Value>, name: &str) -> Option<&'a mut Value> {
    let group =
        GROUPS.into_iter().find(|group| matches!(&fields.get(*group), Some(Value::Object(o)) if o.contains_key(name)));
    match group {
        Some(group) => fields.get_mut(group)?.get_mut(name),
        None if GROUPS.contains(&name) => None,
        None => fields.get_mut(name),
    }
}

/// The first parameter that is wrong by itself.
fn culprit(given: &Map<String, Value>, defaults: &Map<String, Value>, read: Read<'_>) -> Option<Error> {
    given.iter().find_map(|(name, value)| {
        let mut fields = defaults.clone();
        if let Some(place) = place(&mut fields, name) {
            *place = value.clone();
        }
        let error = read(fields).err()?;
        Some(Error::parameter(name.as_str(), shown(value), expected(&error.to_string())))
    })
}

/// The type that serde expects, in words of users.
fn expected(error: &str) -> String {
    let wanted =
        ["must be ", "expected "].into_iter().find_map(|mark| error.split_once(mark)).map_or(error, |(_, to)| to);
    match wanted {
        "usize" | "u64" | "u32" => "an integer >= 0".to_owned(),
        "i128" | "i64" | "i32" => "an integer".to_owned(),
        "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" | "string or map" => "the name of an option".to_owned(),
        other => other.to_owned(),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::String(name) if ["inf", "-inf", "nan"].contains(&name.as_str()) => name.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::SolverKind;
    use crate::{gsu, kernel_svc};

    fn refused<P: Parameters>(json: &str) -> String {
        from_named::<P>(json).and_then(Parameters::check).expect_err("must be refused").to_string()
    }

    #[test]
    fn any_of_the_names_and_defaults_for_the_others() {
        let params: gsu::Params =
            from_named(r#"{"alpha": 2, "tol": 1e-3, "probability": true, "solver": "sgd", "max_iter": null}"#).unwrap();
        assert_eq!(params, gsu::Params::new().alpha(2.0).tol(1e-3).probability(true).solver(SolverKind::Sgd));
        assert_eq!(from_named::<gsu::Params>(&to_named(&params).unwrap()).unwrap(), params);
        let names = names::<gsu::Params>().unwrap();
        for name in ["alpha", "tol", "folds", "seed"] {
            assert!(names.iter().any(|known| known == name), "{name}");
        }
        assert!(!names.iter().any(|name| name == "control" || name == "options"));
        let params: kernel_svc::Params =
            from_named(r#"{"C": 3, "sigma": "median", "max_iter": -1, "cache_size": 0.5}"#).unwrap();
        assert_eq!(
            params,
            kernel_svc::Params::new()
                .c(3.0)
                .sigma(crate::kernel::probabilistic_rbf::Bandwidth::Median)
                .cache_size(1 << 19)
        );
    }

    #[test]
    fn errors_name_the_parameter_and_what_it_may_be() {
        let message = refused::<gsu::Params>(r#"{"alpha": 1, "solver": "magic"}"#);
        assert!(message.starts_with("solver = \"magic\": must be one of auto, newton"), "{message}");
        assert!(refused::<gsu::Params>(r#"{"alpha": "inf"}"#).starts_with("alpha = inf: must be a finite number"));
        assert!(refused::<gsu::Params>(r#"{"alpha": "nan"}"#).starts_with("alpha = NaN"));
        assert!(refused::<gsu::Params>(r#"{"alpha": "x"}"#).starts_with("alpha = \"x\": must be a number"));
        assert!(
            refused::<gsu::Params>(r#"{"batch_size": -2}"#).starts_with("batch_size = -2: must be an integer >= 0")
        );
        assert!(refused::<gsu::Params>(r#"{"max_iter": -2}"#).starts_with("max_iter = 0"));
        assert_eq!(refused::<gsu::Params>(r#"{"max_iter": 1.5}"#), "max_iter = 1.5: must be an integer");
        assert!(refused::<gsu::Params>(r#"{"probability": 2}"#).starts_with("probability = 2: must be true or false"));
        assert!(refused::<gsu::Params>(r#"{"beta": 2}"#).starts_with("beta = 2: must be one of"));
        assert!(refused::<gsu::Params>(r#"{"options": 2}"#).starts_with("options = 2: must be one of"));
        for name in ["max_iter", "batch_size", "folds"] {
            let message = refused::<gsu::Params>(&format!("{{\"{name}\": 9007199254740993}}"));
            assert_eq!(message, format!("{name} = 9007199254740993: must be at most 2^53"));
        }
        assert!(from_named::<gsu::Params>(r#"{"seed": 18446744073709551615, "folds": 9007199254740992}"#).is_ok());
        assert!(refused::<gsu::Params>("[1]").contains("not a JSON object"));
        let cache = refused::<kernel_svc::Params>(r#"{"cache_size": 0}"#);
        assert!(cache.starts_with("cache_size = 0: must be a finite number of MB > 0"), "{cache}");
        assert!(refused::<kernel_svc::Params>(r#"{"sigma": "mean"}"#).contains("must be a number or \"median\""));
    }

    #[test]
    fn a_file_holds_all_of_them_and_no_others() {
        let valid = gsu::Params::new().control(Control::new().with_threads(3)).check().unwrap();
        let json = serde_json::to_string(&valid).unwrap();
        assert!(!json.contains("control"), "{json}");
        let again: Valid<gsu::Params> = serde_json::from_str(&json).unwrap();
        assert_eq!(again.params(), &gsu::Params::new());
        for altered in [
            json.replace("\"alpha\"", "\"beta\""),
            json.replace("\"alpha\":0.001,", ""),
            json.replace("0.001", "-1"),
            json.replace("\"folds\":5", "\"folds\":18446744073709551615"),
        ] {
            assert_ne!(altered, json);
            assert!(serde_json::from_str::<Valid<gsu::Params>>(&altered).is_err(), "{altered}");
        }
    }
}
