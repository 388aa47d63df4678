//! What a text means, as a model's vector: of length one, in eight bits a number. Pure; refuses to
//! know which texts and which models there are.

use wide::{i8x16, i16x16, i32x8};

/// More numbers than any model's vectors have.
const NUMBERS_MAX: usize = 16_384;
/// The scale's, before the numbers.
const SCALE_BYTES: usize = 4;
/// Numbers go from minus this to this.
const STEPS: f64 = 127.0;

/// A direction. As bytes: a scale (f32, little-endian), then one signed byte for each number, which
/// stands for itself times the scale. A cosine is within 0.01 of the exact one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector(Vec<u8>);

impl Vector {
    /// The direction of these numbers; `None`: they have none (all zero, not finite, none or too many).
    pub fn new(numbers: &[f64]) -> Option<Vector> {
        let length = numbers.iter().map(|n| n * n).sum::<f64>().sqrt();
        let largest = numbers.iter().fold(0.0, |most: f64, n| most.max(n.abs()));
        let is_sound = length.is_normal() && numbers.len() <= NUMBERS_MAX;
        if !is_sound {
            return None;
        }
        let scale = (largest / length / STEPS) as f32;
        let mut bytes = scale.to_le_bytes().to_vec();
        let small = numbers.iter().map(|n| (n / largest * STEPS).round() as i8);
        bytes.extend(small.map(i8::cast_unsigned));
        Some(Vector(bytes))
    }

    /// As it is stored.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The cosine of the angle to a stored one, from -1 to 1; `None`: that has another length. Who compares
    /// it with many asks its [`Probe`].
    pub fn cosine(&self, stored: &[u8]) -> Option<f32> {
        self.probe().cosine(stored)
    }

    /// To compare it with many.
    pub fn probe(&self) -> Probe {
        let (scale, numbers) = self.0.split_first_chunk().unwrap_or((&[0; 4], &[]));
        let (blocks, rest) = numbers.as_chunks();
        Probe {
            scale: f32::from_le_bytes(*scale),
            blocks: blocks.iter().map(widened).collect(),
            rest: rest.to_vec(),
        }
    }
}

/// Numbers that are multiplied at once.
const BLOCK: usize = 16;

/// A vector that is compared with many: its numbers are as wide as they are multiplied.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    scale: f32,
    blocks: Vec<i16x16>,
    /// Fewer than a block.
    rest: Vec<u8>,
}

fn widened(block: &[u8; BLOCK]) -> i16x16 {
    i16x16::from_i8x16(i8x16::new(block.map(u8::cast_signed)))
}

impl Probe {
    /// The cosine of the angle to a stored vector, from -1 to 1; `None`: that has another length. A tenth of a
    /// microsecond for a thousand numbers.
    pub fn cosine(&self, stored: &[u8]) -> Option<f32> {
        let (scale, others) = stored.split_first_chunk::<SCALE_BYTES>()?;
        if others.len() != self.length() {
            return None;
        }
        let (blocks, rest) = others.as_chunks();
        let pairs = self.blocks.iter().zip(blocks);
        let sums = pairs.fold(i32x8::ZERO, |sums, (own, other)| {
            sums + own.dot(widened(other))
        });
        let rest = self.rest.iter().zip(rest);
        let rest =
            rest.map(|(own, other)| i32::from(own.cast_signed()) * i32::from(other.cast_signed()));
        let sum = sums.reduce_add() + rest.sum::<i32>();
        Some(sum as f32 * self.scale * f32::from_le_bytes(*scale))
    }

    /// How many numbers it has.
    fn length(&self) -> usize {
        self.blocks.len() * BLOCK + self.rest.len()
    }
}

/// What a question means to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// What vectors are made by: those that were made otherwise say nothing beside it.
    pub made_by: String,
    /// By that model.
    pub vector: Vector,
}

/// The vectors of one text's passages, as they are stored: how many bytes each has (u32, little-endian), then
/// one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassageVectors(Vec<u8>);

/// The bytes of a vector's length, before the vectors.
const LENGTH_BYTES: usize = 4;

impl PassageVectors {
    /// These; `None`: there are none, or they have several lengths.
    pub fn new(vectors: &[Vector]) -> Option<PassageVectors> {
        let length = vectors.first()?.0.len();
        let mut bytes = u32::try_from(length).ok()?.to_le_bytes().to_vec();
        for Vector(vector) in vectors {
            (vector.len() == length).then(|| bytes.extend(vector))?;
        }
        Some(PassageVectors(bytes))
    }

    /// As it is stored.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// How many bytes each of the stored ones has.
    pub fn length(stored: &[u8]) -> Option<usize> {
        let length = stored.first_chunk::<LENGTH_BYTES>()?;
        usize::try_from(u32::from_le_bytes(*length)).ok()
    }

    /// The cosine of the nearest of the stored ones, and how many were compared; `None`: they have another length.
    pub fn nearest(stored: &[u8], to: &Probe) -> Option<(f32, u64)> {
        let own = SCALE_BYTES + to.length();
        let length = PassageVectors::length(stored).filter(|length| *length == own)?;
        let all = stored[LENGTH_BYTES..].chunks_exact(length);
        let compared = all.len() as u64;
        let nearest = all.filter_map(|one| to.cosine(one)).reduce(f32::max)?;
        Some((nearest, compared))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_passage_speaks_for_its_text() {
        let vector = |numbers: &[f64]| Vector::new(numbers).unwrap();
        let two = PassageVectors::new(&[vector(&[1.0, 0.0]), vector(&[0.0, 1.0])]).unwrap();
        let (nearest, compared) =
            PassageVectors::nearest(two.as_bytes(), &vector(&[1.0, 9.0]).probe()).unwrap();
        assert!((nearest - 0.993).abs() < 0.01 && compared == 2, "{nearest}");
        assert_eq!(PassageVectors::length(two.as_bytes()), Some(6));
        assert_eq!(
            PassageVectors::nearest(two.as_bytes(), &vector(&[1.0]).probe()),
            None
        );
        assert_eq!(
            PassageVectors::nearest(&[1, 2], &vector(&[1.0]).probe()),
            None
        );
        assert_eq!(PassageVectors::new(&[]), None);
        assert_eq!(
            PassageVectors::new(&[vector(&[1.0]), vector(&[1.0, 2.0])]),
            None
        );
    }

    /// Numbers that follow from a seed, around nought.
    fn numbers(seed: u64, many: usize) -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 40) as f64 / f64::from(1 << 24) - 0.5
        };
        (0..many).map(|_| next()).collect()
    }

    #[test]
    fn a_cosine_is_that_of_the_whole_numbers_but_for_a_hundredth() {
        for many in [1, 3, 384, 768, 3_072] {
            for seed in 1..20 {
                let (one, mut other) = (numbers(seed, many), numbers(seed + 100, many));
                for (other, one) in other.iter_mut().zip(&one) {
                    *other += one * seed as f64 / 10.0;
                }
                let dot: f64 = one.iter().zip(&other).map(|(a, b)| a * b).sum();
                let length = |all: &[f64]| all.iter().map(|n| n * n).sum::<f64>().sqrt();
                let exact = dot / length(&one) / length(&other);
                let (one, other) = (Vector::new(&one).unwrap(), Vector::new(&other).unwrap());
                let told = f64::from(one.cosine(other.as_bytes()).unwrap());
                assert!((told - exact).abs() < 0.01, "{many}: {told} {exact}");
            }
        }
    }

    #[test]
    fn what_has_no_direction_is_no_vector() {
        for numbers in [
            &[][..],
            &[0.0, 0.0],
            &[f64::NAN, 1.0],
            &[f64::INFINITY, 1.0],
            &[1e200, 1e200],
            &[1.0; NUMBERS_MAX + 1],
        ] {
            assert_eq!(Vector::new(numbers), None);
        }
        let two = Vector::new(&[3.0, 4.0]).unwrap();
        assert_eq!((two.as_bytes().len(), two.cosine(&[0; 5])), (6, None));
        assert_eq!(two.cosine(&[]), None);
    }
}
