//! The products that a gate is made of: both layers forwards, and what a step of training multiplies behind them.

use crate::gpu::{Batch, Gpu, Kind, Product, Result};
use crate::layout::{Places, Sizes};
use crate::rooms::Rooms;

/// Both layers of a gate forwards: from its input over hidden numbers to where its feature goes.
pub(crate) fn layers(
    (sizes, places, weights): (Sizes, Places, u64),
    slots: usize,
    [input, hidden, out]: [u64; 3],
    stride: usize,
) -> [Product; 2] {
    let weight = |place: usize| weights + 4 * place as u64;
    let [m, w, h, f] = [slots, sizes.width(), sizes.hidden, sizes.features].map(|size| size as i32);
    let first = Product {
        a: input,
        b: weight(places.first),
        c: hidden,
        beside: weight(places.added),
        m,
        n: h,
        k: w,
        lda: w,
        ldb: w,
        ldc: h,
        ..Product::default()
    };
    let second = Product {
        a: hidden,
        b: weight(places.second),
        c: out,
        beside: weight(places.second_bias),
        m,
        n: f,
        k: h,
        lda: h,
        ldb: h,
        ldc: stride as i32,
        ..Product::default()
    };
    [first, second]
}

/// The products of a step: both layers forwards, the second backwards, and the weights of both.
pub(crate) fn of_step(
    gpu: &Gpu,
    base: u64,
    parameter: u64,
    apart: usize,
    (slots, steps): (usize, u64),
    (sizes, places, rooms): (&[Sizes], &[Places], &[Rooms]),
) -> Result<[Batch; 4]> {
    let float = |base: u64, place: usize| base + 4 * place as u64;
    let (mut first, mut second, mut backward, mut learn) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (number, (sizes, (places, room))) in sizes.iter().zip(places.iter().zip(rooms)).enumerate() {
        let Rooms { input, hidden, feature, feature_gradient, hidden_gradient, .. } = *room;
        let [input, hidden, feature, feature_gradient, hidden_gradient] =
            [input, hidden, feature, feature_gradient, hidden_gradient].map(|place| float(base, place));
        let [w, h, f] = [sizes.width(), sizes.hidden, sizes.features].map(|size| size as i32);
        let m = slots as i32;
        let weight = |place: usize| Product {
            c: float(parameter, place),
            first: float(parameter, place + apart),
            second: float(parameter, place + 2 * apart),
            step: steps + 12 * number as u64,
            k: m,
            ..Product::default()
        };
        let [one, other] = layers((*sizes, *places, parameter), slots, [input, hidden, feature], sizes.features);
        first.push(one);
        second.push(other);
        backward.push(Product {
            a: feature_gradient,
            b: float(parameter, places.second),
            c: hidden_gradient,
            beside: hidden,
            m,
            n: h,
            k: f,
            lda: f,
            ldb: h,
            ldc: h,
            ..Product::default()
        });
        learn.push(Product {
            a: hidden_gradient,
            b: input,
            m: h,
            n: w,
            lda: h,
            ldb: w,
            ldc: w,
            ..weight(places.first)
        });
        learn.push(Product {
            a: feature_gradient,
            b: hidden,
            m: f,
            n: h,
            lda: f,
            ldb: h,
            ldc: h,
            ..weight(places.second)
        });
    }
    Ok([
        gpu.batch(&first, Kind::Forward)?,
        gpu.batch(&second, Kind::Forward)?,
        gpu.batch(&backward, Kind::Backward)?,
        gpu.batch(&learn, Kind::Learn)?,
    ])
}
