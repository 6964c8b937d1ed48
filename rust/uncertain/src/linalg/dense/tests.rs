use super::*;
use crate::control::Control;
use crate::parallel;
use crate::testing::Numbers;

fn normals(n_rows: usize, n_cols: usize, seed: u64) -> Matrix {
    let mut numbers = Numbers::new(seed);
    Matrix { n_rows, n_cols, values: (0..n_rows * n_cols).map(|_| numbers.normal()).collect() }
}

/// Lower triangle of F F' + I; above it a number that must stay.
fn positive(n: usize) -> Matrix {
    let f = normals(n, n + 3, 5);
    let mut a = Matrix::zeros(n, n).unwrap();
    (0..n).for_each(|i| a.values[i * n + i] = 1.0);
    add_gram(&mut a, &f, Shape::Full, 1.0, &Control::new()).unwrap();
    (0..n).for_each(|j| (0..j).for_each(|i| a.values[j * n + i] = 7.0));
    a
}

fn at(a: &Matrix, i: usize, j: usize) -> f64 {
    a.values[j * a.n_rows + i]
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + b.abs())
}

#[test]
fn products_are_plain_sums() {
    let (n, b, d) = (300, 5, 7);
    let (a, p) = (normals(n, d, 1), normals(b, d, 2));
    let mut c = normals(n, b, 3);
    let before = c.clone();
    subtract_product(&mut c, &a, &p, &Control::new()).unwrap();
    for i in 0..n {
        for j in 0..b {
            let sum: f64 = (0..d).map(|k| at(&a, i, k) * at(&p, j, k)).sum();
            assert!(close(at(&c, i, j), at(&before, i, j) - sum, 1e-13));
        }
    }
    let a = normals(40, 290, 4);
    let mut h = Matrix::zeros(290, 290).unwrap();
    let twice = |columns: std::ops::Range<usize>| {
        let values = a.values[columns.start * 40..columns.end * 40].iter().map(|x| 2.0 * x).collect();
        Ok(Matrix { n_rows: 40, n_cols: columns.len(), values })
    };
    add_congruence(&mut h, &a, Shape::Full, twice, &Control::new()).unwrap();
    for j in 0..290 {
        for i in 0..290 {
            let sum: f64 = (0..40).map(|k| 2.0 * at(&a, k, i) * at(&a, k, j)).sum();
            assert!(close(at(&h, i, j), if i >= j { sum } else { 0.0 }, 1e-12), "{i} {j}");
        }
    }
    let x: Vec<f64> = (0..290).map(f64::from).collect();
    let image = a.times(40, &x);
    assert!(close(image[3], (0..290).map(|j| at(&a, 3, j) * x[j]).sum(), 1e-12));
    assert!(close(a.transposed_times(&x[..20])[9], (0..20).map(|i| at(&a, i, 9) * x[i]).sum(), 1e-12));
}

#[test]
fn factors_of_every_size_leave_the_upper_triangle_alone() {
    for n in [1, 3, 127, 128, 129, 300, 515] {
        let a = positive(n);
        let mut l = a.clone();
        assert!(cholesky(&mut l, &Control::new()).unwrap());
        for (i, j) in [(0, 0), (n - 1, 0), (n - 1, n - 1), (n / 2, n / 3), (n - 1, n / 2)] {
            let sum: f64 = (0..=j).map(|k| at(&l, i, k) * at(&l, j, k)).sum();
            assert!(close(sum, at(&a, i, j), 1e-12), "n = {n}: {i} {j}");
        }
        assert!((0..n).all(|j| (0..j).all(|i| at(&l, i, j) == 7.0)));
        // A L^{-T} of L itself is the identity in its lower triangle.
        let mut lower = l.clone();
        (0..n).for_each(|j| (0..j).for_each(|i| lower.values[j * n + i] = 0.0));
        let mut v = lower.clone();
        // L' L^{-T}: solve_right of the transposed factor gives I only for L = I, so solve rows of A.
        for j in 0..n {
            for i in 0..n {
                v.values[j * n + i] = at(&a, i.max(j), i.min(j));
            }
        }
        solve_right(&mut v, &l, Shape::Full, &Control::new()).unwrap();
        for (i, j) in [(0, 0), (n - 1, 0), (n - 1, n - 1), (n / 2, n / 3), (0, n - 1)] {
            assert!(close(at(&v, i, j), at(&lower, i, j), 1e-9), "n = {n}: {i} {j}");
        }
    }
    let mut indefinite = positive(200);
    indefinite.values[150 * 200 + 150] = -1.0;
    assert!(!cholesky(&mut indefinite, &Control::new()).unwrap());
}

#[test]
fn one_square_holds_a_matrix_and_a_factor_of_a_part_of_it() {
    let n = 310;
    let a = positive(n);
    let mut g = Symmetric::new(a.clone());
    let full = |i: usize, j: usize| at(&a, i.max(j), i.min(j));
    let shift: Vec<f64> = (0..n).map(|i| 0.1 * i as f64).collect();
    let x: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
    let product = |x: &[f64]| (0..n).map(|i| (0..n).map(|j| full(i, j) * x[j]).sum()).collect::<Vec<f64>>();
    for set in [(0..n).collect::<Vec<_>>(), (0..n).filter(|i| i % 3 != 1).collect(), vec![7, 200]] {
        assert!(g.factor(&set, &shift, &Control::new()).unwrap());
        let b: Vec<f64> =
            set.iter().map(|&i| set.iter().map(|&j| full(i, j) * x[j]).sum::<f64>() + shift[i] * x[i]).collect();
        let mut columns = Matrix { n_rows: set.len(), n_cols: 2, values: [b.clone(), b.clone()].concat() };
        g.forward_columns(&mut columns, &Control::new()).unwrap();
        let mut b = b;
        g.forward(&mut b);
        assert!(columns.col(1).iter().zip(&b).all(|(c, b)| close(*c, *b, 1e-10)));
        g.backward(&mut b);
        assert!(set.iter().zip(&b).all(|(&i, b)| close(*b, x[i], 1e-9)));
        // G itself is still there.
        let image = g.times(&x).unwrap();
        assert!(image.iter().zip(product(&x)).all(|(a, b)| close(*a, b, 1e-12)));
    }
    // Rows in any order are appended to a factor.
    let (set, come): (Vec<usize>, Vec<usize>) = (0..n).partition(|i| i % 5 != 1);
    assert!(g.factor(&set, &shift, &Control::new()).unwrap());
    let come: Vec<usize> = come.into_iter().rev().collect();
    assert!(g.append(&set, &come, &shift, &Control::new()).unwrap());
    let set = [set, come].concat();
    let mut b: Vec<f64> =
        set.iter().map(|&i| (0..n).map(|j| full(i, j) * x[j]).sum::<f64>() + shift[i] * x[i]).collect();
    g.forward(&mut b);
    g.backward(&mut b);
    assert!(set.iter().zip(&b).all(|(&i, b)| close(*b, x[i], 1e-9)));
    let mut column = vec![1.0; n];
    g.add_column(7, 2.0, &mut column);
    assert!((0..n).all(|i| close(column[i], 1.0 + 2.0 * full(i, 7), 1e-12)));
    assert!(!g.factor(&[0, 1], &vec![-1e9; n], &Control::new()).unwrap());
}

#[test]
fn a_stop_is_heard() {
    let control = Control::new();
    control.stop();
    assert!(cholesky(&mut positive(10), &control).is_err());
    assert!(add_gram(&mut positive(10), &normals(10, 2, 1), Shape::Full, 1.0, &control).is_err());
}

#[test]
fn results_do_not_depend_on_threads() {
    let factor = |threads| {
        parallel::install(Some(threads), || {
            let mut a = positive(700);
            cholesky(&mut a, &Control::new()).unwrap();
            let x = vec![1.0; 700];
            (a.values.clone(), Symmetric::new(a).times(&x).unwrap())
        })
        .unwrap()
    };
    assert!(factor(1) == factor(3));
}

#[test]
fn zeros_of_stairs_are_left_out() {
    for n in [5, 130, 300, 600] {
        let mut a = normals(n, n, 3);
        (0..n).for_each(|j| (0..n).filter(|i| i + j < n - 1).for_each(|i| a.values[j * n + i] = 0.0));
        let control = Control::new();
        let image = |columns: std::ops::Range<usize>| {
            let values = a.values[columns.start * n..columns.end * n].iter().map(|x| x + 0.5).collect();
            Ok(Matrix { n_rows: n, n_cols: columns.len(), values })
        };
        let lower = |shape| {
            let mut h = Matrix::zeros(n, n).unwrap();
            add_congruence(&mut h, &a, shape, image, &control).unwrap();
            let mut g = Matrix::zeros(n - 2, n - 2).unwrap();
            add_gram(&mut g, &a, shape, 0.5, &control).unwrap();
            let mut l = positive(n);
            assert!(cholesky(&mut l, &control).unwrap());
            let mut v = a.clone();
            solve_right(&mut v, &l, shape, &control).unwrap();
            (h, g, v)
        };
        let (stair, full) = (lower(Shape::Stair), lower(Shape::Full));
        for (a, b) in [(&stair.0, &full.0), (&stair.1, &full.1), (&stair.2, &full.2)] {
            let scale = b.values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            assert!(a.values.iter().zip(&b.values).all(|(a, b)| (a - b).abs() < 1e-12 * scale), "{n}");
        }
    }
}

#[test]
fn the_last_rows_of_a_factor_solve_alone() {
    let (n, part) = (200, 70);
    let mut l = positive(n);
    assert!(cholesky(&mut l, &Control::new()).unwrap());
    let narrow = normals(9, part, 8);
    let mut wide = Matrix::zeros(9, n).unwrap();
    wide.values[9 * (n - part)..].copy_from_slice(&narrow.values);
    let (mut a, mut b) = (narrow, wide);
    solve_right(&mut a, &l, Shape::Full, &Control::new()).unwrap();
    solve_right(&mut b, &l, Shape::Full, &Control::new()).unwrap();
    assert!(a.values.iter().zip(&b.values[9 * (n - part)..]).all(|(a, b)| close(*a, *b, 1e-12)));
    let mut x = vec![1.0; n];
    backward(&l, &mut x);
    for j in 0..n {
        assert!(close((j..n).map(|i| at(&l, i, j) * x[i]).sum(), 1.0, 1e-10));
    }
}
