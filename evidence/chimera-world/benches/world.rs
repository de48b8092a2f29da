//! Scenes a second, as the command line makes them but for writing files, and how that compares with a renderer that shoots
//! nine rays a pixel at every solid and shades each of them.
//!
//!     cargo bench -p chimera-world --bench world

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints its result or stops")]

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use chimera_data::media::picture::Size;
use chimera_data::media::png::encode_png;
use chimera_data::parallel::in_parallel;
use chimera_data::seed::stream;
use chimera_world::clip::{Act, Clips};
use chimera_world::draw::draw;
use chimera_world::motion::{Body, simulate};
use chimera_world::photo::class::Class;
use chimera_world::photo::scene::{Photo, Photos};
use chimera_world::presets;
use chimera_world::render::{picture, plain_picture};
use chimera_world::still::{Still, Stills};
use chimera_world::vidor::concept::Concept;
use chimera_world::vidor::story::{Stories, Story};
use chimera_world::view::View;
use chimera_world::wish::{HouseRules, Wish};

/// Frames that are kept of a clip.
const KEPT: [usize; 8] = [8, 24, 40, 56, 72, 88, 104, 120];

fn main() {
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let rules = |text, moving| HouseRules::new(presets::rules(text), moving).expect("built-in rules");
    let (still_rules, clip_rules) = (rules(presets::CLEVR, false), rules(presets::CLEVRER, true));
    let size = |width, height| Size::new(width, height).expect("a size");
    let still = |number: usize| {
        let mut random = stream(1, "bench", number as u64);
        draw(&Stills { together: 0.3 }, &still_rules, &mut random, Wish::Kept, None).expect("a still")
    };
    let act = |number: usize| {
        let mut random = stream(1, "bench", number as u64);
        draw(&Clips { together: 0.3 }, &clip_rules, &mut random, Wish::Kept, None).expect("a clip")
    };
    let photo_rules = HouseRules::over(presets::rules(presets::OPENIMAGES), Class::named).expect("built-in rules");
    let photo = |number: usize| -> Photo {
        let mut random = stream(1, "bench", number as u64);
        draw(&Photos { together: 0.3 }, &photo_rules, &mut random, Wish::Kept, None).expect("a photo")
    };

    let story_rules = HouseRules::over(presets::rules(presets::VIDOR), Concept::named).expect("built-in rules");
    let stories = Stories::new(0.3).expect("stories");
    let story = |number: usize| -> Story {
        let mut random = stream(1, "bench", number as u64);
        draw(&stories, &story_rules, &mut random, Wish::Kept, None).expect("a story")
    };

    println!("{threads} threads\n");
    let rate = |what: &str, count: usize, work: &(dyn Fn(usize) + Sync)| {
        let began = Instant::now();
        let done = in_parallel(threads, count, |number| {
            work(number);
            Ok(())
        });
        done.expect("work");
        println!("{what:<58} {:>8.1} a second", count as f64 / began.elapsed().as_secs_f64());
    };
    let encoded = |view: &View, size| {
        let mut bytes = Vec::new();
        encode_png(&picture(view, size).expect("a picture"), &mut bytes).expect("bytes");
        black_box(bytes);
    };
    rate("stills of 96 x 64: drawn, rendered, PNG", 400, &|number| encoded(&still(number).view, size(96, 64)));
    rate("  drawn alone", 400, &|number| drop(black_box(still(number))));
    rate("clips of 8 frames of 64 x 64: drawn, rendered, PNG", 120, &|number| {
        let act = act(number);
        KEPT.iter().for_each(|&frame| encoded(&act.view(frame), size(64, 64)));
    });
    rate("  drawn alone (simulated until they keep the rules)", 120, &|number| drop(black_box(act(number))));
    rate("  simulated once", 200, &|number| {
        let bodies: Vec<Body> = starts(&act(number % 8));
        black_box(simulate(&bodies, 128));
    });

    rate("stories of 8 frames of 64 x 64: drawn, painted, PNG, boxes", 400, &|number| {
        let (story, kept) = (story(number), [4, 12, 20, 28, 36, 44, 52, 60]);
        for picture in story.pictures(size(64, 64), &kept) {
            let mut bytes = Vec::new();
            encode_png(&picture.expect("a picture"), &mut bytes).expect("bytes");
            black_box(bytes);
        }
        drop(black_box(story.described(String::new(), String::new(), size(64, 64))));
    });
    rate("  drawn alone (until they keep the rules)", 400, &|number| drop(black_box(story(number))));
    rate("photos of 96 x 64: drawn, painted, with boxes", 1000, &|number| {
        let photo = photo(number);
        drop(black_box((photo.picture(size(96, 64)), photo.boxes())));
    });
    rate("  drawn alone", 1000, &|number| drop(black_box(photo(number))));

    println!("\nrendering against nine rays a pixel at every solid, each shaded, one thread:");
    let stills: Vec<Still> = (0..12).map(still).collect();
    let acts: Vec<Act> = (0..12).map(act).collect();
    let versus = |what: &str, views: &[View], size: Size| {
        let time = |paint: &dyn Fn(&View)| {
            let best = (0..3).map(|_| {
                let began = Instant::now();
                views.iter().for_each(paint);
                began.elapsed()
            });
            best.min().unwrap_or(Duration::MAX).as_secs_f64() / views.len() as f64
        };
        let ours = time(&|view| drop(black_box(picture(view, size))));
        let plain = time(&|view| drop(black_box(plain_picture(view, size))));
        println!("{what:<28} {:>8.2} ms, plain {:>8.2} ms: {:.1} times as fast", 1e3 * ours, 1e3 * plain, plain / ours);
    };
    let still_views: Vec<View> = stills.into_iter().map(|still| still.view).collect();
    let clip_views: Vec<View> = acts.iter().map(|act| act.view(64)).collect();
    versus("stills of 96 x 64", &still_views, size(96, 64));
    versus("stills of 480 x 320", &still_views, size(480, 320));
    versus("frames of 64 x 64", &clip_views, size(64, 64));
}

/// The bodies of a clip as they began.
fn starts(act: &Act) -> Vec<Body> {
    let moments = act.motion.frames[0].iter().zip(&act.clip.things);
    let body = |(moment, thing): (&chimera_world::motion::Moment, &chimera_data::clevr::clip::ClipThing)| Body {
        shape: thing.look.shape,
        place: moment.location.truncate(),
        yaw: moment.orientation[2],
        velocity: moment.velocity.truncate(),
    };
    moments.map(body).collect()
}
