//! What is filled has the area of its outline, and pictures are means of cells.

use super::*;

/// The share of a square of 4 x 4 units that is painted.
fn area(outline: &Outline) -> f32 {
    let mut canvas = Canvas::new([400, 400], Vec2::splat(4.0), 0_u8);
    canvas.fill(outline, |_, before| before + 1);
    assert!(canvas.inks().iter().all(|ink| *ink <= 1), "a cell is filled twice");
    16.0 * canvas.inks().iter().filter(|ink| **ink > 0).count() as f32 / 160_000.0
}

#[test]
fn areas_have_their_closed_forms() {
    let pi = std::f32::consts::PI;
    let near = |outline: &Outline, expected: f32| {
        let area = area(outline);
        assert!((area - expected).abs() < 0.03, "{outline:?}: {area} for {expected}");
    };
    near(&Outline::rectangle([0.5, 1.0], [2.5, 1.5]), 1.0);
    near(&Outline::polygon(&[[0.0, 0.0], [3.0, 0.0], [0.0, 2.0]]), 3.0);
    near(&Outline::ellipse([2.0, 2.0], [1.5, 0.5], 0.7), pi * 0.75);
    near(&Outline::ring([2.0, 2.0], 1.0, 0.25), pi * (1.0 - 0.75 * 0.75));
    // Half of it is out of the canvas.
    near(&Outline::disc([0.0, 2.0], 1.0), pi / 2.0);
    // A straight part of 2 x 1 and two half discs, which are polygons of 12 sides: 6 sin(30 degrees) / 4.
    near(&Outline::limb([1.0, 2.0], [3.0, 2.0], [0.5; 2]), 2.0 + 0.75);
    // A cross of five points: what is gone around twice, the pentagon inside, is out.
    let star: Vec<[f32; 2]> =
        (0..5).map(|tip| [2.0 + (0.8 * pi * tip as f32).sin(), 2.0 - (0.8 * pi * tip as f32).cos()]).collect();
    near(&Outline::polygon(&star), 1.1226 - 0.3474);
}

#[test]
fn a_map_of_the_plane_moves_what_is_inside() {
    let map = Affine2::from_cols(Vec2::new(1.2, 0.3), Vec2::new(-0.4, 0.8), Vec2::new(1.0, 0.2));
    for outline in [
        Outline::ellipse([0.8, 0.9], [0.7, 0.3], 0.5),
        Outline::ring([0.9, 0.9], 0.6, 0.2),
        Outline::limb([0.4, 0.5], [1.2, 1.4], [0.3, 0.1]),
    ] {
        let mut plain = Canvas::new([300, 300], Vec2::splat(3.0), false);
        plain.fill(&outline, |_, _| true);
        let mapped = outline.mapped(&map);
        let mut moved = Canvas::new([300, 300], Vec2::splat(3.0), false);
        moved.fill(&mapped, |_, _| true);
        let (back, [low, high]) = (map.inverse(), mapped.bounds().unwrap());
        let mut off = 0;
        for (cell, ink) in moved.inks().iter().enumerate() {
            let at = Vec2::new((cell % 300) as f32 + 0.5, (cell / 300) as f32 + 0.5) / 100.0;
            assert!(!ink || (at.cmpge(low).all() && at.cmple(high).all()), "{outline:?} leaves its bounds");
            let from = (back.transform_point2(at) * 100.0).floor();
            let inside = from.min_element() >= 0.0 && from.max_element() < 300.0;
            let was = inside && plain.inks()[from.y as usize * 300 + from.x as usize];
            off += usize::from(was != *ink);
        }
        // Only cells at the edge, some hundreds of them around, fall to either side.
        assert!(off < 250, "{outline:?}: {off} cells");
    }
}

#[test]
fn a_picture_is_the_mean_of_its_cells() {
    let size = Size::new(4, 2).unwrap();
    let painted = |rows: Range<usize>, pixels: &mut Vec<u8>| {
        let mut canvas = Canvas::for_rows(size, &rows, 4, Vec2::new(4.0, 2.0));
        canvas.fill(&Outline::rectangle([0.0, 0.0], [1.5, 1.0]), |_, _| [200, 100, 40]);
        canvas.add_to(pixels, 4, 0.5);
    };
    let (mut whole, mut bands) = (Vec::new(), Vec::new());
    painted(0..2, &mut whole);
    assert_eq!(whole[..9], [100, 50, 20, 50, 25, 10, 0, 0, 0]);
    assert!(whole.len() == size.bytes() && whole[12..].iter().all(|byte| *byte == 0));
    [0..1, 1..2].into_iter().for_each(|rows| painted(rows, &mut bands));
    assert_eq!(bands, whole);
    assert_eq!(mixed([0, 100, 200], [100, 0, 200], 0.25), [25, 75, 200]);
}
