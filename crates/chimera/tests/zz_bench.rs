//! x
#![allow(warnings, clippy::all)]
use std::time::Instant;
use chimera::data::table::LabelTable;
#[test] fn bench_csv() { for _ in 0..3 { let t=Instant::now(); let table=LabelTable::read("/tmp/zz.csv".as_ref()).unwrap(); println!("csv {} rows {:?}", table.labels.rows(), t.elapsed()); } }
