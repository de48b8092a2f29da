//! A small model of given features with two rules, for tests that are not about what it learned.

use super::Sandbox;

/// Numbers a sample.
const WIDTH: usize = 4;

/// Writes a dataset folder of features. Every fourth row is for tests.
pub(crate) fn import(sandbox: &Sandbox, name: &str, rows: usize) {
    let mut random = fastrand::Rng::with_seed(rows as u64);
    let mut table = String::from("id,split,a,b\n");
    let mut values: Vec<u8> = Vec::with_capacity(4 * WIDTH * rows);
    for row in 0..rows {
        let (a, b) = (random.bool(), random.bool());
        let b = b || (a && row % 4 != 0);
        for at in 0..WIDTH {
            let value = f32::from(u8::from(if at < 2 { a } else { b })) + 0.3 * random.f32();
            values.extend(value.to_le_bytes());
        }
        let split = if row % 4 == 0 { "test" } else { "train" };
        table += &format!("s{row:06},{split},{},{}\n", u8::from(a), u8::from(b));
    }
    sandbox.write_npy(&format!("{name}.npy"), WIDTH, &values);
    sandbox.write(&format!("{name}.csv"), table);
    let ran = sandbox.run(&format!("import features {name}.csv --features {name}.npy --out {name}"));
    assert_eq!(ran.code, 0, "{}", ran.err);
}

/// The command that trains the model.
pub(crate) fn train(out: &str) -> String {
    format!("train ds --rules my.rules --out {out} --cache cache --features 8 --hidden 8 --epochs 2 --gate-epochs 1")
}

/// A folder with the dataset `ds` of 400 rows and `model`, trained on it.
pub(crate) fn trained() -> Sandbox {
    let sandbox = Sandbox::new();
    import(&sandbox, "ds", 400);
    sandbox.write("my.rules", "watched: a => b\neither: a | b\n");
    let ran = sandbox.run(&train("model"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    sandbox
}
