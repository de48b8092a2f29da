//! The classes of this world: a cut of Open Images' own, by the same ids and with the same kinds above them. Parts are tied
//! more closely than there, where a laptop is a part of a building and a window of nothing.

use std::sync::LazyLock;

use chimera_data::error::{Error, Result};
use chimera_logic::vocabulary::Vocabulary;
use serde::Serialize;

/// The id of what everything is.
const ENTITY: &str = "/m/0bl9f";

/// A class a line: its name and id, what it is a kind of, what it is a part of.
macro_rules! classes {
    ($($class:ident $name:literal $id:literal is [$($above:ident)*] of [$($whole:ident)*];)*) => {
        /// A class of things.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "a class is what it is called")]
        pub enum Class { $($class),* }

        impl Class {
            /// All of them, what is above before what is below.
            pub const ALL: &[Self] = &[$(Self::$class),*];

            /// What people call it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$class => $name),* }
            }

            /// What Open Images calls it.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$class => $id),* }
            }

            /// What it is a kind of, directly.
            #[must_use]
            pub const fn above(self) -> &'static [Self] {
                match self { $(Self::$class => &[$(Self::$above),*]),* }
            }

            /// What it is a part of, directly.
            #[must_use]
            pub const fn wholes(self) -> &'static [Self] {
                match self { $(Self::$class => &[$(Self::$whole),*]),* }
            }
        }
    };
}

classes! {
    Animal "Animal" "/m/0jbk" is [] of [];
    Bird "Bird" "/m/015p6" is [Animal] of [];
    Duck "Duck" "/m/09ddx" is [Bird] of [];
    Owl "Owl" "/m/09d5_" is [Bird] of [];
    Mammal "Mammal" "/m/04rky" is [Animal] of [];
    Horse "Horse" "/m/03k3r" is [Mammal] of [];
    Sheep "Sheep" "/m/07bgp" is [Mammal] of [];
    Elephant "Elephant" "/m/0bwd_0j" is [Mammal] of [];
    Giraffe "Giraffe" "/m/03bk1" is [Mammal] of [];
    Carnivore "Carnivore" "/m/01lrl" is [Mammal] of [];
    Dog "Dog" "/m/0bt9lr" is [Carnivore] of [];
    Cat "Cat" "/m/01yrx" is [Carnivore] of [];
    Fox "Fox" "/m/0306r" is [Carnivore] of [];
    Person "Person" "/m/01g317" is [] of [];
    Man "Man" "/m/04yx4" is [Person] of [];
    Woman "Woman" "/m/03bt1vf" is [Person] of [];
    Boy "Boy" "/m/01bl7v" is [Person] of [];
    Girl "Girl" "/m/05r655" is [Person] of [];
    HumanFace "Human face" "/m/0dzct" is [] of [Person];
    Clothing "Clothing" "/m/09j2d" is [] of [];
    SportsEquipment "Sports equipment" "/m/05y5lj" is [] of [];
    Dress "Dress" "/m/01d40f" is [Clothing] of [];
    Hat "Hat" "/m/02dl1y" is [Clothing] of [];
    CowboyHat "Cowboy hat" "/m/025rp__" is [Hat] of [];
    SunHat "Sun hat" "/m/02wbtzl" is [Hat] of [];
    Helmet "Helmet" "/m/0zvk5" is [Clothing SportsEquipment] of [];
    BicycleHelmet "Bicycle helmet" "/m/03p3bw" is [Helmet] of [];
    Ball "Ball" "/m/018xm" is [SportsEquipment] of [];
    Football "Football" "/m/01226z" is [Ball] of [];
    Vehicle "Vehicle" "/m/07yv9" is [] of [];
    LandVehicle "Land vehicle" "/m/01prls" is [Vehicle] of [];
    Car "Car" "/m/0k4j" is [LandVehicle] of [];
    Van "Van" "/m/0h2r6" is [Car] of [];
    Taxi "Taxi" "/m/0pg52" is [LandVehicle] of [];
    Bus "Bus" "/m/01bjv" is [LandVehicle] of [];
    Truck "Truck" "/m/07r04" is [LandVehicle] of [];
    Motorcycle "Motorcycle" "/m/04_sv" is [LandVehicle] of [];
    Bicycle "Bicycle" "/m/0199g" is [LandVehicle SportsEquipment] of [];
    Wheel "Wheel" "/m/083wq" is [] of [LandVehicle];
    BicycleWheel "Bicycle wheel" "/m/01bqk0" is [] of [Bicycle];
    Aircraft "Aircraft" "/m/0k5j" is [Vehicle] of [];
    Airplane "Airplane" "/m/0cmf2" is [Aircraft] of [];
    Helicopter "Helicopter" "/m/09ct_" is [Aircraft] of [];
    Plant "Plant" "/m/05s2s" is [] of [];
    Houseplant "Houseplant" "/m/03fp41" is [Plant] of [];
    Tree "Tree" "/m/07j7r" is [Plant] of [];
    PalmTree "Palm tree" "/m/0cdl1" is [Tree] of [];
    ChristmasTree "Christmas tree" "/m/025nd" is [Tree] of [];
    Flower "Flower" "/m/0c9ph5" is [Plant] of [];
    Sunflower "Sunflower" "/m/0ftb8" is [Flower] of [];
    Rose "Rose" "/m/06m11" is [Flower] of [];
    Building "Building" "/m/0cgh4" is [] of [];
    House "House" "/m/03jm5" is [Building] of [];
    Skyscraper "Skyscraper" "/m/079cl" is [Building] of [];
    Tower "Tower" "/m/01fdzj" is [Building] of [];
    Window "Window" "/m/0d4v4" is [] of [Building];
    Door "Door" "/m/02dgv" is [] of [Building];
    TrafficSign "Traffic sign" "/m/01mqdt" is [] of [];
    StopSign "Stop sign" "/m/02pv19" is [TrafficSign] of [];
    TrafficLight "Traffic light" "/m/015qff" is [] of [];
    StreetLight "Street light" "/m/033rq4" is [] of [];
    Toy "Toy" "/m/0138tl" is [] of [];
    Balloon "Balloon" "/m/01j51" is [Toy] of [];
    Kite "Kite" "/m/02zt3" is [Toy] of [];
    Furniture "Furniture" "/m/0c_jw" is [] of [];
    Bench "Bench" "/m/0cvnqh" is [Furniture] of [];
}

/// Classes as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes(u128);

/// For each class, itself and all that it is a kind of.
static CLOSED: LazyLock<Vec<Classes>> = LazyLock::new(|| {
    let mut closed: Vec<Classes> = Vec::with_capacity(Class::ALL.len());
    for &class in Class::ALL {
        // What is above comes first in the list.
        let above = class.above().iter().map(|&above| closed[above as usize].0);
        let bits = above.fold(1 << class as usize, |bits, above| bits | above);
        closed.push(Classes(bits));
    }
    closed
});

impl Classes {
    /// All that is shown where these are: they, and whatever they are kinds of.
    pub fn closed(classes: impl IntoIterator<Item = Class>) -> Self {
        Self(classes.into_iter().fold(0, |bits, class| bits | CLOSED[class as usize].0))
    }

    /// Whether a class is among them.
    #[must_use]
    pub fn has(self, class: Class) -> bool {
        self.0 >> class as usize & 1 == 1
    }

    /// What both have.
    #[must_use]
    pub fn common(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    /// These and others.
    #[must_use]
    pub fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }
}

impl Class {
    /// Whether it is another class or a kind of it.
    #[must_use]
    pub fn is(self, wider: Self) -> bool {
        CLOSED[self as usize].has(wider)
    }

    /// All that it is a kind of, itself left out.
    pub fn ancestors(self) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |&wider| wider != self && self.is(wider))
    }

    /// The class of a name.
    ///
    /// # Errors
    /// A name that no class has, with the one that is most like it.
    pub fn named(name: &str) -> Result<Self> {
        Self::ALL.iter().copied().find(|class| class.name() == name).ok_or_else(|| {
            let names = Vocabulary::closed(Self::ALL.iter().map(|class| class.name().to_owned()), "this world");
            let hint = names.nearest(name).map_or_else(
                || "`class-descriptions-boxable.csv` of any such world lists them".to_owned(),
                |nearest| format!("did you mean `{nearest}`?"),
            );
            let message = format!("expected one of the {} classes of this world, got `{name}`", Self::ALL.len());
            Error::input(message, Some(hint))
        })
    }
}

/// A class in Open Images' hierarchy, with all below it.
#[derive(Debug, Serialize)]
pub(crate) struct Branch {
    #[serde(rename = "LabelName")]
    label: &'static str,
    #[serde(rename = "Subcategory", skip_serializing_if = "Vec::is_empty")]
    kinds: Vec<Branch>,
    #[serde(rename = "Part", skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Branch>,
}

impl Branch {
    /// The whole hierarchy. A class with several parents stands below each, and a part also below the root, as in the
    /// real file.
    pub(crate) fn root() -> Self {
        let kinds = Class::ALL.iter().filter(|class| class.above().is_empty()).map(|&class| Self::of(class));
        Self { label: ENTITY, kinds: kinds.collect(), parts: Vec::new() }
    }

    fn of(class: Class) -> Self {
        let below = |ties: fn(Class) -> &'static [Class]| {
            Class::ALL.iter().filter(|other| ties(**other).contains(&class)).map(|&other| Self::of(other)).collect()
        };
        Self { label: class.id(), kinds: below(Class::above), parts: below(Class::wholes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reachability by repeated scanning.
    #[test]
    fn kinds_are_all_that_can_be_reached() {
        for &class in Class::ALL {
            let mut reached = vec![class];
            while let Some(next) = Class::ALL
                .iter()
                .find(|wider| !reached.contains(wider) && reached.iter().any(|one| one.above().contains(wider)))
            {
                reached.push(*next);
            }
            for &wider in Class::ALL {
                assert_eq!(class.is(wider), reached.contains(&wider), "{class:?} {wider:?}");
            }
        }
        let depth = Class::Dog.ancestors().count() + 1;
        assert_eq!(depth, 4, "Animal, Mammal, Carnivore, Dog");
        assert!(Class::ALL.len() <= 128, "one bit a class");
    }

    #[test]
    fn names_are_found_or_the_nearest_is_told() {
        assert_eq!(Class::named("Land vehicle").unwrap(), Class::LandVehicle);
        let told = |name: &str| Class::named(name).unwrap_err().to_string();
        assert!(told("Land vehcle").ends_with("did you mean `Land vehicle`?"), "{}", told("Land vehcle"));
        assert!(told("zzzzzzzz").contains("class-descriptions-boxable.csv"));
    }
}
