//! The labels that class codes stand for.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A class label of one of the types that tables have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Class {
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A finite number that was stored as floating point.
    Float(f64),
    /// Text.
    Text(String),
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Text(value) => f.write_str(value),
        }
    }
}

macro_rules! from {
    ($($Type:ty: $Variant:ident;)+) => {
        $(impl From<$Type> for Class {
            fn from(value: $Type) -> Self {
                Self::$Variant(value.into())
            }
        })+
    };
}
from! { &str: Text; i64: Int; f64: Float; bool: Bool; }

/// Why these cannot be the classes of a model, if so.
pub(super) fn check(classes: &[Class], n_classes: usize) -> Result<(), String> {
    if classes.len() != n_classes {
        return Err(format!("it names {} classes, but its model tells {n_classes} apart", classes.len()));
    }
    let mut names: Vec<String> = classes.iter().map(|class| format!("{class:?}")).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("the class {} appears twice", pair[0]));
    }
    match classes.iter().find(|class| matches!(class, Class::Float(x) if !x.is_finite())) {
        Some(class) => Err(format!("the class {class} is not a finite number")),
        None => Ok(()),
    }
}
