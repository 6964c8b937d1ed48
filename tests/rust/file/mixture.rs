//! The denoiser and the imputer: steps with a mixture.

use uncertain::deconvolution::{self, Components};
use uncertain::file::{self, Class, Saved, Step};
use uncertain::gsu::Params;
use uncertain::transform::{GaussianDenoiser, GaussianImputer};
use uncertain::{Control, Labels};

use crate::support::{data, refusal, seal};

#[test]
fn mixtures_come_back_and_must_be_distributions() {
    let (data, control) = (data(), Control::new());
    let labels = Labels::new((0..36).map(|i| i % 2).collect(), 2).unwrap();
    let em = deconvolution::Params { components: Components::Fixed(2), ..Default::default() };
    let (denoiser, _) = GaussianDenoiser::fit(&em, &data, None, &control).unwrap();
    let imputer = GaussianImputer::new(denoiser.mixture().clone());
    let rows = denoiser.transform(&data, &control).unwrap();
    let params = Params::new().check().unwrap();
    let model = params.fit(&rows, &labels, &control).unwrap();
    let steps = vec![Step::Imputer(imputer), Step::Denoiser(denoiser), Step::gsu(model, params)];
    let saved = Saved::new(steps, vec![Class::from(false), Class::from(true)]);
    let bytes = file::save_to_bytes(&saved).unwrap();
    let again = file::load_from_bytes(&bytes).unwrap();
    assert_eq!(again, saved);
    assert_eq!(file::save_to_bytes(&again).unwrap(), bytes);
    assert_eq!(again.predict(&data).unwrap(), saved.predict(&data).unwrap());
    // Shares 1/2 and 1/2 become 1/2 and 0: a sealed file, but no distribution.
    let share =
        again.steps.iter().find_map(|s| if let Step::Denoiser(d) = s { Some(d.mixture().weights()[1]) } else { None });
    let share = share.unwrap().to_le_bytes();
    let at = bytes.windows(8).position(|w| w == share).unwrap();
    let mut altered = bytes.clone();
    altered[at..at + 8].copy_from_slice(&0.0_f64.to_le_bytes());
    assert!(refusal(&seal(altered)).contains("shares of a mixture"));
}
