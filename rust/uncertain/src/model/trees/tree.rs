//! One tree: nodes in preorder, so that a split's left child is the next node and only the right one is written.
//!
//! Preorder is also the check. Every node must be the first of a range that the splits before it left open, and
//! the ranges must close together: then each node is the child of exactly one other, children come after
//! their parents, and no walk leaves the tree or goes on for ever, whatever numbers a file holds.

use crate::error::{Error, Result};

/// The column of a leaf.
const LEAF: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq)]
struct Node {
    /// Threshold of a split, value of a leaf.
    value: f64,
    column: u32,
    right: u32,
    missing_left: bool,
}

/// A tree whose nodes have been checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    nodes: Vec<Node>,
}

/// Nodes as the numbers of a file, one of each per node, in preorder.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TreeArrays {
    /// The column that a split looks at; -1 at a leaf.
    pub column: Vec<f64>,
    /// The largest number that goes left at a split (the largest finite one where all do and only missing values go
    /// right); the value of a leaf.
    pub value: Vec<f64>,
    /// The right child of a split, counted from the root; 0 at a leaf.
    pub right: Vec<f64>,
    /// Do missing values go left (1) or right (0)? 0 at a leaf.
    pub missing_left: Vec<f64>,
}

impl TreeArrays {
    /// Trees of these numbers of nodes, which lie one behind the other.
    ///
    /// # Errors
    /// [`Error::Data`] for arrays of different lengths or sizes that do not add up, and for nodes that are no trees.
    pub fn trees(&self, sizes: &[f64]) -> Result<Vec<Tree>> {
        let n = self.column.len();
        if [&self.value, &self.right, &self.missing_left].iter().any(|array| array.len() != n) {
            return Err(Error::Data("the arrays of the trees' nodes have different lengths".into()));
        }
        let mut first = 0;
        let mut trees = Vec::with_capacity(sizes.len());
        for (t, &size) in sizes.iter().enumerate() {
            let wrong = |why: String| Error::Data(format!("tree {t}: {why}"));
            let size = whole(size, n - first).filter(|&size| size > 0);
            let size = size.ok_or_else(|| wrong(format!("it cannot have {} nodes", sizes[t])))?;
            trees.push(Tree::new(self, first, size).map_err(wrong)?);
            first += size;
        }
        if first != n {
            return Err(Error::Data(format!("the trees have {first} nodes of {n}")));
        }
        Ok(trees)
    }

    fn push(&mut self, node: &Node) {
        let leaf = node.column == LEAF;
        self.column.push(if leaf { -1.0 } else { f64::from(node.column) });
        self.value.push(if node.value == f64::INFINITY { f64::MAX } else { node.value });
        self.right.push(f64::from(node.right));
        self.missing_left.push(f64::from(u8::from(node.missing_left)));
    }
}

impl Tree {
    /// Nodes `first .. first + size` of the arrays.
    fn new(arrays: &TreeArrays, first: usize, size: usize) -> Result<Self, String> {
        let mut nodes = Vec::with_capacity(size);
        // Where the subtrees end that are still open, the innermost last.
        let mut ends = vec![size];
        for at in 0..size {
            let Some(&end) = ends.last() else { return Err(format!("node {at} is no one's child")) };
            let k = first + at;
            let (column, value) = (arrays.column[k], arrays.value[k]);
            if !value.is_finite() {
                return Err(format!("node {at} has the value {value}"));
            }
            let missing_left = match arrays.missing_left[k] {
                0.0 => false,
                1.0 => true,
                other => return Err(format!("node {at} sends missing values to side {other}")),
            };
            if column == -1.0 {
                if at + 1 != end || missing_left || arrays.right[k] != 0.0 {
                    return Err(format!("node {at} is a leaf in the place of a split"));
                }
                ends.pop();
                nodes.push(Node { value, column: LEAF, right: 0, missing_left });
                continue;
            }
            let Some(column) = whole(column, LEAF as usize - 1) else {
                return Err(format!("node {at} asks for column {column}"));
            };
            // Behind the left child, and before the end of its subtree.
            let right = whole(arrays.right[k], end - 1).filter(|&right| right > at + 1);
            let Some(right) = right.and_then(|right| u32::try_from(right).ok()) else {
                return Err(format!("node {at} has the right child {}", arrays.right[k]));
            };
            ends.push(right as usize);
            let value = if value == f64::MAX { f64::INFINITY } else { value };
            nodes.push(Node { value, column: column as u32, right, missing_left });
        }
        match ends.len() {
            0 => Ok(Self { nodes }),
            _ => Err("it ends with a split".to_owned()),
        }
    }

    /// The value of the leaf that these columns fall to.
    pub(super) fn leaf(&self, columns: &[f64]) -> f64 {
        let mut at = 0;
        loop {
            let node = &self.nodes[at];
            if node.column == LEAF {
                return node.value;
            }
            let x = columns[node.column as usize];
            let left = if x.is_nan() { node.missing_left } else { x <= node.value };
            at = if left { at + 1 } else { node.right as usize };
        }
    }

    /// The largest number of a column that it asks for.
    pub(super) fn largest_column(&self) -> Option<usize> {
        self.nodes.iter().map(|node| node.column).filter(|&column| column != LEAF).max().map(|j| j as usize)
    }

    /// The number of its nodes; they are put behind those that the arrays hold.
    pub(super) fn write(&self, arrays: &mut TreeArrays) -> f64 {
        self.nodes.iter().for_each(|node| arrays.push(node));
        self.nodes.len() as f64
    }
}

/// x as a count of at most `most`.
fn whole(x: f64, most: usize) -> Option<usize> {
    let n = x as usize;
    (n as f64 == x && n <= most).then_some(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x_0 <= 1 ? (x_1 <= 2 ? 10 : 20) : 30, missing x_0 to the right, missing x_1 to the left.
    fn arrays() -> TreeArrays {
        TreeArrays {
            column: vec![0.0, 1.0, -1.0, -1.0, -1.0],
            value: vec![1.0, 2.0, 10.0, 20.0, 30.0],
            right: vec![4.0, 3.0, 0.0, 0.0, 0.0],
            missing_left: vec![0.0, 1.0, 0.0, 0.0, 0.0],
        }
    }

    #[test]
    fn rows_fall_to_their_leaves() {
        let trees = arrays().trees(&[5.0]).unwrap();
        let leaf = |x: [f64; 2]| trees[0].leaf(&x);
        assert_eq!(leaf([1.0, 2.0]), 10.0);
        assert_eq!(leaf([1.0, 2.0 + f64::EPSILON * 2.0]), 20.0);
        assert_eq!(leaf([1.1, 0.0]), 30.0);
        assert_eq!(leaf([f64::NAN, 0.0]), 30.0);
        assert_eq!(leaf([-1e300, f64::NAN]), 10.0);
        let mut written = TreeArrays::default();
        assert_eq!(trees[0].write(&mut written), 5.0);
        assert_eq!(written, arrays());
    }

    #[test]
    fn where_only_missing_values_go_right() {
        let mut arrays = arrays();
        arrays.value[0] = f64::MAX;
        let trees = arrays.trees(&[5.0]).unwrap();
        assert_eq!(trees[0].leaf(&[f64::INFINITY, 0.0]), 10.0);
        assert_eq!(trees[0].leaf(&[f64::NAN, 0.0]), 30.0);
        let mut written = TreeArrays::default();
        trees[0].write(&mut written);
        assert_eq!(written, arrays);
    }

    /// Every way to replace one number: a tree of which each node is reached once, or an error; never a walk without end.
    #[test]
    fn altered_nodes_are_refused_or_still_a_tree() {
        let strange = [-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.5, -2.0, 1e18, f64::MAX, f64::NAN, f64::INFINITY];
        let fields: [fn(&mut TreeArrays) -> &mut Vec<f64>; 4] =
            [|a| &mut a.column, |a| &mut a.value, |a| &mut a.right, |a| &mut a.missing_left];
        let mut refused = 0;
        for field in fields {
            for (at, new) in (0..5).flat_map(|at| strange.map(|new| (at, new))) {
                let mut altered = arrays();
                field(&mut altered)[at] = new;
                match altered.trees(&[5.0]) {
                    Err(_) => refused += 1,
                    Ok(trees) => {
                        let mut seen = vec![0];
                        let mut reached = vec![];
                        while let Some(k) = seen.pop() {
                            reached.push(k);
                            let node = trees[0].nodes[k];
                            if node.column != LEAF {
                                seen.extend([k + 1, node.right as usize]);
                            }
                        }
                        reached.sort_unstable();
                        assert_eq!(reached, [0, 1, 2, 3, 4]);
                    }
                }
            }
        }
        assert!(refused > 100, "{refused}");
        for sizes in [&[4.0][..], &[6.0], &[5.0, 0.0], &[2.0, 3.0], &[-5.0], &[5.5], &[], &[f64::NAN]] {
            assert!(arrays().trees(sizes).is_err(), "{sizes:?}");
        }
    }
}
