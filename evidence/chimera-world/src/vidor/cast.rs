//! Who may be there: people, animals and things, some common and some rare, some of which like to come together.

use fastrand::Rng;

/// Something that can be seen, by VidOR's word for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// A grown person.
    Adult,
    /// A small person.
    Child,
    /// A very small person, who crawls.
    Baby,
    /// A dog.
    Dog,
    /// A cat.
    Cat,
    /// A horse.
    Horse,
    /// A bird, which flies.
    Bird,
    /// A ball.
    Ball,
    /// A teddy bear, or bricks.
    Toy,
    /// A chair.
    Chair,
    /// A bicycle that nobody rides.
    Bicycle,
    /// A car.
    Car,
}

/// What is known of a category. Lengths are in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nature {
    /// What it is called.
    pub name: &'static str,
    /// How common it is, of 100.
    pub common: u32,
    /// How high it is.
    pub height: f32,
    /// Half of its length, seen from the side.
    pub length: f32,
    /// Half of its breadth, seen from the front.
    pub breadth: f32,
    /// How high the place is where something can lie on it, if that is not its top.
    pub seat: Option<f32>,
    /// How fast it goes, a second; 0 for what stays where it is.
    pub speed: f32,
    /// Whether it lives: it watches, and it chases.
    pub lives: bool,
}

impl Category {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Adult,
        Self::Child,
        Self::Baby,
        Self::Dog,
        Self::Cat,
        Self::Horse,
        Self::Bird,
        Self::Ball,
        Self::Toy,
        Self::Chair,
        Self::Bicycle,
        Self::Car,
    ];

    /// What is known of it. What is small is larger than in life, and what is large smaller, so that all can be told in small
    /// pictures. A few categories are everywhere and most are rare, as in VidOR.
    #[must_use]
    pub fn nature(self) -> Nature {
        let being = |name, common, [height, length, breadth]: [f32; 3], speed| Nature {
            name,
            common,
            height,
            length,
            breadth,
            seat: None,
            speed,
            lives: true,
        };
        let thing = |name, common, sides, speed| Nature { lives: false, ..being(name, common, sides, speed) };
        match self {
            Self::Adult => being("adult", 22, [1.7, 0.32, 0.34], 1.4),
            Self::Child => being("child", 16, [1.15, 0.26, 0.28], 1.5),
            Self::Baby => being("baby", 8, [0.72, 0.4, 0.3], 0.6),
            Self::Dog => being("dog", 10, [0.85, 0.6, 0.24], 2.0),
            Self::Cat => being("cat", 7, [0.62, 0.42, 0.2], 1.6),
            Self::Horse => being("horse", 4, [1.75, 1.05, 0.36], 1.8),
            Self::Bird => being("bird", 4, [0.42, 0.42, 0.5], 2.4),
            Self::Ball => thing("ball", 7, [0.5, 0.25, 0.25], 1.8),
            Self::Toy => thing("toy", 8, [0.6, 0.28, 0.28], 0.0),
            Self::Chair => Nature { seat: Some(0.52), ..thing("chair", 6, [1.05, 0.3, 0.28], 0.0) },
            Self::Bicycle => thing("bicycle", 4, [1.0, 0.85, 0.3], 0.0),
            Self::Car => thing("car", 4, [1.3, 1.5, 0.7], 2.6),
        }
    }

    /// As it is written in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.nature().name
    }

    /// The one of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.name() == name)
    }

    /// What likes to come with it; its own partner is that one.
    #[must_use]
    pub fn partner(self) -> Self {
        match self {
            Self::Adult => Self::Baby,
            Self::Baby => Self::Adult,
            Self::Child => Self::Ball,
            Self::Ball => Self::Child,
            Self::Dog => Self::Cat,
            Self::Cat => Self::Dog,
            Self::Toy => Self::Chair,
            Self::Chair => Self::Toy,
            Self::Horse => Self::Bird,
            Self::Bird => Self::Horse,
            Self::Bicycle => Self::Car,
            Self::Car => Self::Bicycle,
        }
    }

    /// One by chance, the common ones more often.
    fn drawn(random: &mut Rng) -> Self {
        let all: u32 = Self::ALL.iter().map(|category| category.nature().common).sum();
        let mut left = random.u32(..all);
        for category in Self::ALL {
            match left.checked_sub(category.nature().common) {
                Some(rest) => left = rest,
                None => return category,
            }
        }
        Self::Adult
    }
}

/// Draws so many. With the probability `together` somebody brings a partner along, if there is room.
pub(super) fn cast(random: &mut Rng, count: usize, together: f64) -> Vec<Category> {
    let mut cast = Vec::with_capacity(count + 1);
    while cast.len() < count {
        let category = Category::drawn(random);
        cast.push(category);
        if random.f64() < together {
            cast.push(category.partner());
        }
    }
    cast.truncate(count);
    // Who came with whom is not to be told by the order.
    random.shuffle(&mut cast);
    cast
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_are_common_and_partners_come_as_often_as_asked() {
        assert_eq!(Category::ALL.iter().map(|category| category.nature().common).sum::<u32>(), 100);
        let paired = |together: f64| {
            let mut random = Rng::with_seed(5);
            let (mut paired, mut all, mut adults) = (0_u32, 0_u32, 0_u32);
            for _ in 0..4000 {
                let cast = cast(&mut random, 2, together);
                for (one, other) in [(0, 1), (1, 0)] {
                    let category = cast[one];
                    assert_eq!(category.partner().partner(), category);
                    all += 1;
                    adults += u32::from(category == Category::Adult);
                    paired += u32::from(cast[other] == category.partner());
                }
            }
            (f64::from(paired) / f64::from(all), f64::from(adults) / f64::from(all))
        };
        // Alone, two are partners by chance: twice the sum of products of shares. Two that came together always are.
        let chance: u32 =
            Category::ALL.iter().map(|category| category.nature().common * category.partner().nature().common).sum();
        let (none, adults) = paired(0.0);
        assert!((none - f64::from(chance) / 1e4).abs() < 0.02 && (adults - 0.22).abs() < 0.02, "{none} {adults}");
        assert!(paired(1.0).0 > 0.999);
        let (half, _) = paired(0.5);
        assert!((half - (0.5 + 0.5 * f64::from(chance) / 1e4)).abs() < 0.02, "{half}");
        for category in Category::ALL {
            assert_eq!(Category::from_name(category.name()), Some(category));
        }
    }
}
