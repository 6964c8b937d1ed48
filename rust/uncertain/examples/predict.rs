//! A CSV file through a model that was fitted anywhere, in Python for instance: no Python is needed here.
//!
//! `cargo run --release -p uncertain-learn --example predict -- model.safetensors new.csv`
//!
//! It reads the file itself, so it needs none of the crate's features (`--no-default-features`).
//!
//! Each feature is a column, and its standard deviation the column with `_err` behind the name; an empty cell is a
//! missing value. Without arguments a small model is fitted, written and used.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;

use uncertain::discriminant;
use uncertain::file::{self, Class, Saved};
use uncertain::ndarray::{Array2, arr1};
use uncertain::prelude::{Dataset, Fit, GaussianArray};
use uncertain::step::Step;

/// The answers for the rows of a CSV file, a line each.
fn predict(model: &Path, csv: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let saved = file::load_from_bytes(&std::fs::read(model)?)?;
    let text = std::fs::read_to_string(csv)?;
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or("").split(',').collect();
    let place = |name: String| names.iter().position(|n| **n == name).ok_or(format!("{name}: no such column"));
    let (mut means, mut errors, mut missing) = (vec![], vec![], vec![]);
    for cells in lines.map(|line| line.split(',').collect::<Vec<_>>()) {
        let number = |name: String| -> Result<f64, Box<dyn Error>> {
            let cell = cells.get(place(name)?).map_or("", |cell| cell.trim());
            if cell.is_empty() { Ok(f64::NAN) } else { Ok(cell.parse()?) }
        };
        for feature in &saved.features {
            let (mean, error) = (number(feature.clone())?, number(format!("{feature}_err"))?);
            let gap = mean.is_nan() || error.is_nan();
            missing.push(gap);
            means.push(if gap { 0.0 } else { mean });
            errors.push(if gap { 0.0 } else { error });
        }
    }
    let shape = (missing.len() / saved.features.len(), saved.features.len());
    let (means, errors) = (Array2::from_shape_vec(shape, means)?, Array2::from_shape_vec(shape, errors)?);
    let gaps = Array2::from_shape_vec(shape, missing)?;
    let rows = Dataset::new(GaussianArray::from_std(means, errors)?).with_gaps(&gaps)?;
    if saved.classes.is_empty() {
        return Ok(saved.predict_targets(&rows)?.iter().map(f64::to_string).collect());
    }
    let (classes, p) = (saved.predict_classes(&rows)?, saved.predict_proba(&rows)?);
    let surest = |row: usize| p.row(row).iter().copied().fold(0.0, f64::max);
    Ok(classes.iter().enumerate().map(|(row, class)| format!("{class},{:.4}", surest(row))).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    if let [model, csv] = arguments.as_slice() {
        predict(Path::new(model), Path::new(csv))?.iter().for_each(|line| println!("{line}"));
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let (model, csv) = (folder.path().join("model.safetensors"), folder.path().join("new.csv"));
    let flux = arr1(&[0.0, 0.1, 0.3, 2.0, 2.2, 2.5, 0.2, 2.1]);
    let rows = GaussianArray::from_std(flux, arr1(&[0.1; 8]))?;
    let params = discriminant::Params::new().check()?;
    let fitted = params.fit(&Dataset::classification(rows, [0, 0, 0, 1, 1, 1, 0, 1])?)?;
    let mut saved = Saved::new(vec![Step::new(fitted, params)], vec![Class::from("dwarf"), Class::from("giant")]);
    saved.features = vec!["flux".to_owned()];
    std::fs::write(&model, file::save_to_bytes(&saved)?)?;
    std::fs::write(&csv, "name,flux,flux_err\nsharp,2.0,0.1\nblurred,2.0,5.0\nlost,,\n")?;
    let answers = predict(&model, &csv)?;
    answers.iter().for_each(|line| println!("{line}"));
    assert!(answers[0].starts_with("giant,1.0") && answers[2].ends_with(",0.5000"), "{answers:?}");
    Ok(())
}

#[cfg(test)]
#[test]
fn runs() {
    main().unwrap();
}
