use super::*;

fn pieces() -> Rows {
    let a = Rows::from_vec((0..6).map(f64::from).collect(), 2).unwrap();
    let b = Rows::from_vec((6..10).map(f64::from).collect(), 2).unwrap();
    Rows::concat([a, b], 2).unwrap()
}

#[test]
fn pieces_read_like_one_matrix() {
    let rows = pieces();
    assert_eq!((rows.n_rows(), rows.width()), (5, 2));
    assert_eq!(*rows.row(3), [6.0, 7.0]);
    assert_eq!(rows.to_vec(), (0..10).map(f64::from).collect::<Vec<_>>());
    let runs: Vec<_> = rows.segments(1..4).map(|(i, s)| (i, s.len())).collect();
    assert_eq!(runs, [(1, 4), (3, 2)]);
    assert!(rows.as_stored().is_none());
    assert_eq!(*rows.contiguous(), rows.to_vec());
}

#[test]
fn slices_share_and_takes_copy() {
    let rows = pieces().slice(2..5);
    assert_eq!(rows.to_vec(), [4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    assert_eq!(rows.slice(1..2).to_vec(), [6.0, 7.0]);
    assert_eq!(rows.slice(3..3).n_rows(), 0);
    assert_eq!(rows.take(&[2, 0]).to_vec(), [8.0, 9.0, 4.0, 5.0]);
}

#[test]
fn rows_can_be_exchanged() {
    let rows = pieces();
    let new = rows.with_rows(&[(0, vec![-1.0, -2.0]), (3, vec![-3.0, -4.0])]).unwrap();
    assert_eq!(new.to_vec(), [-1.0, -2.0, 2.0, 3.0, 4.0, 5.0, -3.0, -4.0, 8.0, 9.0]);
    assert_eq!(*new.row(3), [-3.0, -4.0]);
    let many = Rows::from_vec(vec![0.0; 100], 1).unwrap();
    let changed: Vec<_> = (10..90).map(|i| (i, vec![1.0])).collect();
    assert_eq!(many.with_rows(&changed).unwrap().to_vec().iter().sum::<f64>(), 80.0);
}

#[test]
fn wrong_sizes_are_refused() {
    assert!(Rows::from_vec(vec![1.0; 5], 2).is_err());
    assert!(Rows::from_shared(vec![1.0; 5].into(), 2, 2, 2).is_err());
}

#[test]
fn float32_rows_read_as_the_same_numbers() {
    let numbers: Vec<f32> = (0..30_000).map(|k| 0.1 * k as f32).chain([f32::from_bits(1), -f32::MAX]).collect();
    let wide: Vec<f64> = numbers.iter().map(|x| f64::from(*x)).collect();
    let narrow = Rows::from_shared(numbers.into(), 0, 15_001, 2).unwrap();
    let other = Rows::from_vec(wide.clone(), 2).unwrap();
    assert_eq!((narrow.element_type(), other.element_type()), (ElementType::F32, ElementType::F64));
    assert_eq!((narrow.row_bytes(), other.row_bytes()), (8, 16));
    assert!(narrow == other && narrow.to_vec() == wide);
    let runs: Vec<_> = narrow.segments(1..narrow.n_rows()).collect();
    assert!(runs.len() > 1 && runs.iter().all(|(first, run)| **run == wide[2 * first..][..run.len()]));
    assert_eq!(runs.iter().map(|(_, run)| run.len()).sum::<usize>(), 30_000);
    // Moved rows keep their type; joined or computed ones are float64 where any of them is.
    let moved = [narrow.slice(3..5), narrow.take(&[3, 4]), narrow.columns(&[1, 0], 1).slice(3..5)];
    assert!(moved.iter().all(|rows| rows.element_type() == ElementType::F32));
    assert_eq!(moved[0], moved[1]);
    assert_eq!(*moved[2].row(0), [wide[7], wide[6]]);
    let mixed = Rows::concat([narrow.clone(), other.clone()], 2).unwrap();
    assert_eq!(mixed.element_type(), ElementType::F64);
    assert_eq!(*mixed.take(&[1, 15_002]).contiguous(), [wide[2], wide[3], wide[2], wide[3]]);
    assert_eq!(other.stored_as(ElementType::F32).element_type(), ElementType::F32);
    assert_eq!(other.stored_as(ElementType::F32), narrow.stored_as(ElementType::F64));
}

#[test]
fn scaled_float32_rows_stay_where_they_are_and_read_as_scaled_copies() {
    let numbers: Vec<f32> = (0..30_003).map(|k| 0.1 * k as f32 - 7.0).collect();
    let wide = Rows::from_vec(numbers.iter().map(|x| f64::from(*x)).collect(), 3).unwrap();
    let buffer = SharedBuffer::from(numbers);
    let narrow = Rows::from_shared(buffer.clone(), 0, 10_001, 3).unwrap();
    let (m, s) = ([0.1, -0.2, 1e-300], [3.0, 0.7, 1e3]);
    for shifted in [false, true] {
        let change = |rows: &Rows| if shifted { rows.standardised(&m, &s) } else { rows.times(&s) }.unwrap();
        let (copy, seen) = (change(&wide), change(&narrow));
        let SharedBuffer::F32(buffer) = &buffer else { unreachable!() };
        assert!(seen.chunks.iter().all(|c| matches!(&c.buffer, SharedBuffer::F32(own) if Arc::ptr_eq(own, buffer))));
        assert_eq!((seen.element_type(), seen.as_stored().is_none()), (ElementType::F64, true));
        assert!(seen == copy && seen.to_vec() == copy.to_vec() && seen.at(77, 2) == copy.at(77, 2));
        assert!(
            seen.stored_segments(5..10_001)
                .flat_map(|(_, run)| run.wide().into_owned())
                .eq(copy.to_vec()[15..].to_vec())
        );
        assert_eq!(seen.slice(9000..9003).take(&[2, 0]), copy.take(&[9002, 9000]));
        // Also where its pieces were scaled one by one; what is taken is stored in the type of its source.
        let pieces = Rows::concat([change(&narrow.slice(0..9)), change(&narrow.slice(9..10_001))], 3).unwrap();
        let taken = pieces.take(&[9002, 0, 8]);
        assert_eq!(taken, copy.take(&[9002, 0, 8]));
        assert!(taken.chunks.iter().all(|c| matches!(c.buffer, SharedBuffer::F32(_))));
        let (mixed, both) = ([seen.clone(), narrow.clone()], [copy.clone(), wide.clone()]);
        let (mixed, both) = (Rows::concat(mixed, 3).unwrap(), Rows::concat(both, 3).unwrap());
        assert_eq!(mixed.take(&[10_002, 4]), both.take(&[10_002, 4]));
        assert_eq!(seen.columns(&[2, 0], 1), copy.columns(&[2, 0], 1));
        assert_eq!(
            Rows::concat([seen.clone(), narrow.clone()], 3).unwrap(),
            Rows::concat([copy.clone(), wide.clone()], 3).unwrap()
        );
        assert_eq!(seen.times(&s).unwrap(), copy.times(&s).unwrap());
        assert!(seen.stored_as(ElementType::F64).as_stored().is_some());
        assert_eq!(seen.stored_as(ElementType::F32), copy.stored_as(ElementType::F32));
    }
}
