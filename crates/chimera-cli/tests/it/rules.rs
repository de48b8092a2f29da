//! The `rules` commands as a user meets them: output, exit codes, files, and what happens to bad input.

use std::io::Write;
use std::process::Stdio;

use crate::support::{Ran, Sandbox};

const RULES: &str = "watched [severity=high]: obj:baby => obj:adult & rel:adult-watch-baby\n\
    alone: !(obj:baby & !obj:adult)  # twice the same thing\n\
    pair: obj:adult & rel:adult-watch-baby => obj:baby\n";
const LABELS: &str = "id,split,obj:baby,obj:adult,rel:adult-watch-baby\n\
    v1,train,1,1,1\nv2,train,0,1,0\nv3,test,true,FALSE,0\nv4,test,1,,1\n";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("my.rules", RULES);
    sandbox.write("labels.csv", LABELS);
    sandbox
}

/// More findings than any buffer holds, for nobody: they are findings all the same.
#[test]
fn findings_that_nobody_reads_keep_their_exit_code() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.rules", (0..200).map(|rule| format!("r{rule}: a & => b\n")).collect::<String>());
    for words in ["rules check bad.rules", "rules check bad.rules --json"] {
        let out = sandbox.run(words).out;
        assert!(out.len() > 1 << 14, "{}", out.len());
        let ran = sandbox.run_unheard(words);
        assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{words}");
    }
}

#[test]
fn check_counts_rules_on_data() {
    let ran = sandbox().run("rules check my.rules --data labels.csv");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let line =
        |name: &str| ran.out.lines().find(|line| line.trim_start().starts_with(name)).unwrap().split_whitespace();
    assert!(line("watched").eq(["watched", "compound", "2", "1", "1"]), "{}", ran.out);
    assert!(line("alone").eq(["alone", "other", "2", "1", "1"]), "{}", ran.out);
    assert!(ran.out.contains("3 rules over 3 concepts, 4 gates in 2 levels (5 without sharing)"), "{}", ran.out);
    // Training rows are v1 and v2; v3 breaks a rule, but it is a test row.
    assert!(!ran.out.contains("W112"), "{}", ran.out);
    assert!(ran.out.contains("in the 2 training rows of `labels.csv`"), "{}", ran.out);
    assert!(ran.out.contains("rule `alone` follows from `watched`"), "{}", ran.out);
    let clean = Sandbox::new();
    clean.write("clean.rules", "a: b => c\n");
    let ran = clean.run("rules check clean.rules");
    assert!(ran.out.contains("1 rule over 2 concepts") && ran.out.contains("no findings"), "{}", ran.out);
}

#[test]
fn check_lints_logic_and_data() {
    let sandbox = sandbox();
    sandbox.write("odd.rules", "a: obj:baby & !obj:baby\nb: obj:baby => obj:adult\nc: !obj:adult => !obj:baby\n");
    let ran = sandbox.run("rules check odd.rules");
    assert_eq!(ran.code, 1);
    for part in
        ["error[E100]: rule `a` can never hold", "warning[W101]: rule `c` means the same as `b`", "1 error, 1 warning"]
    {
        assert!(ran.out.contains(part), "{part} in\n{}", ran.out);
    }
    sandbox.write("all.csv", LABELS.replace("test", "train"));
    let ran = sandbox.run("rules check my.rules --data all.csv");
    assert_eq!(ran.code, 0, "warnings alone are no failure");
    assert!(ran.out.contains("W112") && ran.out.contains("broken by 1 of the 4 training rows"), "{}", ran.out);
}

#[test]
fn show_gives_probability_and_repair() {
    let sandbox = sandbox();
    let words = "rules show my.rules watched --p obj:baby=0.9,obj:adult=0.8,rel:adult-watch-baby=0.25";
    let ran = sandbox.run(words);
    assert_eq!(ran.code, 0, "{}", ran.err);
    // 1 - 0.9 (1 - 0.8 * 0.25) = 0.28; ln 3 = 1.10.
    for part in ["probability 0.2800", "would hold if rel:adult-watch-baby were present (cost 1.10)"] {
        assert!(ran.out.contains(part), "{part} in\n{}", ran.out);
    }
    let json: serde_json::Value = serde_json::from_str(&sandbox.run(&format!("{words} --json")).out).unwrap();
    let exact = json["rules"][0]["outlook"]["exact"].as_f64().unwrap();
    assert!((exact - 0.28).abs() < 1e-12);
    sandbox.write("odd.rules", "a: x <=> !x\n");
    let odd = sandbox.run("rules show odd.rules --p x=0.3");
    assert!(odd.out.contains("holds with probability 0.0000 (as independent events 0.4200)"), "{}", odd.out);
    assert!(odd.out.contains("nothing can repair it"), "{}", odd.out);
    for (given, expected) in [("x=2", "from 0 to 1"), ("y=0.5", "no rule speaks of `y`"), ("x", "concept=probability")]
    {
        let ran = sandbox.run(&format!("rules show odd.rules --p {given}"));
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains(expected), "{}", ran.err);
    }
}

#[test]
fn graph_draws_svg_and_dot() {
    let sandbox = sandbox();
    let ran = sandbox.run("rules graph my.rules --p obj:baby=0.9 -o all.svg");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let svg = sandbox.read("all.svg");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    for part in ["watched", "obj:baby", "0.90", "probability that it holds"] {
        assert!(svg.contains(part), "{part}");
    }
    let dot = sandbox.run("rules graph my.rules alone --format dot").out;
    assert!(dot.starts_with("digraph") && dot.contains("alone") && !dot.contains("watched"), "{dot}");
    let ran = sandbox.run("rules graph my.rules -o all.png");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("ends in `.svg` or `.dot` or `.gv`"), "{}", ran.err);
}

#[test]
fn check_finds_all_mistakes_at_once_and_exits_1() {
    let sandbox = sandbox();
    sandbox.write("bad.rules", "a: obj:babby => obj:adult\nb: (obj:baby\na: obj:adult &\n");
    let ran = sandbox.run("rules check bad.rules --data labels.csv");
    assert_eq!(ran.code, 1);
    for part in ["E020", "bad.rules:1:4", "did you mean `obj:baby`?", "E013", "bad.rules:2:4", "E012", "3 errors"] {
        assert!(ran.out.contains(part), "{part} in\n{}", ran.out);
    }
    let json = sandbox.run("rules check bad.rules --data labels.csv --json");
    assert_eq!(json.code, 1);
    let report: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(report["errors"], 3);
    assert_eq!(report["diagnostics"][0]["code"], "E020");
    assert_eq!(report["diagnostics"][0]["line"], 1);
}

#[test]
fn quiet_check_prints_findings_alone() {
    let sandbox = sandbox();
    sandbox.write("clean.rules", "a: b => c\n");
    let ran = sandbox.run("-q rules check clean.rules");
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
    sandbox.write("bad.rules", "a: b &\n");
    let ran = sandbox.run("rules check bad.rules -q");
    assert_eq!(ran.code, 1);
    assert!(ran.out.starts_with("error[E012]"), "{}", ran.out);
}

#[test]
fn truth_writes_one_row_a_sample() {
    let sandbox = sandbox();
    let ran = sandbox.run("rules truth my.rules --data labels.csv -o truth.csv");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    assert_eq!(sandbox.read("truth.csv"), "id,watched,alone,pair\nv1,1,1,1\nv2,1,1,1\nv3,0,0,1\nv4,,,1\n");
    assert!(ran.err.contains("4 rows, 3 rules: 1 row breaks at least one rule"), "{}", ran.err);
    let json = sandbox.run("rules truth my.rules --data labels.csv --json -q");
    let lines: Vec<serde_json::Value> = json.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[3]["rules"]["watched"], serde_json::Value::Null);
    assert_eq!(lines[2]["rules"]["watched"], false);
    assert_eq!(json.err, "");
}

#[test]
fn coverage_in_three_shapes() {
    let sandbox = sandbox();
    let table = sandbox.run("rules coverage my.rules --data labels.csv");
    assert_eq!(table.code, 0, "{}", table.err);
    assert!(table.out.contains("!obj:adult & obj:baby   [alone]"), "{}", table.out);
    assert!(table.out.contains("1 row with an unknown operand"), "{}", table.out);
    let csv = sandbox.run("rules coverage my.rules --data labels.csv --format csv");
    // obj:adult & rel:adult-watch-baby on v1 (1,1), v2 (1,0), v3 (0,0); v4 is unknown.
    let rows: Vec<_> = csv.out.lines().filter(|line| line.starts_with("g3,")).collect();
    let counts: Vec<_> = rows.iter().map(|row| row.rsplit(',').skip(1).take(3).collect::<Vec<_>>()).collect();
    assert_eq!(counts, [["1", "0", "00"], ["0", "0", "01"], ["1", "0", "10"], ["1", "1", "11"]], "{}", csv.out);
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.run("rules coverage my.rules --data labels.csv --json").out).unwrap();
    assert_eq!(json[0]["known_rows"], 3);
    assert_eq!(json[0]["unknown_rows"], 1);
}

#[test]
fn fmt_prints_checks_and_rewrites() {
    let sandbox = Sandbox::new();
    sandbox.write("ugly.rules", "r :  a\n");
    assert_eq!(sandbox.run("rules fmt ugly.rules").code, 0);
    let ugly = "# kept\n\n\n\nr [weight=2.0   severity=low] :  ((a))∧not b->c   # why\r\n";
    sandbox.write("ugly.rules", ugly);
    let pretty = "# kept\n\nr [severity=low weight=2]: a & !b => c  # why\n";
    assert_eq!(sandbox.run("rules fmt ugly.rules").out, pretty);
    assert_eq!(sandbox.run("rules fmt ugly.rules --check").code, 1);
    assert_eq!(sandbox.read("ugly.rules"), ugly, "nothing was asked to be written");
    assert_eq!(sandbox.run("rules fmt ugly.rules --write").code, 0);
    assert_eq!(sandbox.read("ugly.rules"), pretty);
    assert_eq!(sandbox.run("rules fmt ugly.rules --check").code, 0);
    assert_eq!(sandbox.files(), ["ugly.rules"]);
}

#[test]
fn fmt_never_rewrites_a_file_with_errors() {
    let sandbox = Sandbox::new();
    for broken in [&b"r:  a &\n"[..], b"r:  a # caf\xe9\n"] {
        sandbox.write("bad.rules", broken);
        let ran = sandbox.run("rules fmt bad.rules --write");
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains("it is left as it is"), "{}", ran.err);
        assert_eq!(std::fs::read(sandbox.path("bad.rules")).unwrap(), broken);
    }
}

#[test]
fn show_prints_gates_and_the_graph_form_comes_back() {
    let sandbox = sandbox();
    let ran = sandbox.run("rules show my.rules watched");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("watched (compound, severity high)"), "{}", ran.out);
    assert!(ran.out.contains("shared by 2 rules"), "{}", ran.out);
    let missing = sandbox.run("rules show my.rules wached");
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("there is no rule `wached`"), "{}", missing.err);

    sandbox.write("graphs.json", sandbox.run("rules show my.rules --graph").out);
    let back = sandbox.run("rules fmt graphs.json");
    assert_eq!(back.code, 0, "{}", back.err);
    sandbox.write("back.rules", &back.out);
    let truth = |rules: &str| sandbox.run(&format!("rules truth {rules} --data labels.csv")).out;
    assert_eq!(truth("back.rules"), truth("my.rules"));
    assert_eq!(truth("graphs.json"), truth("my.rules"));
    let json: serde_json::Value = serde_json::from_str(&sandbox.run("rules show my.rules --json").out).unwrap();
    assert_eq!(json["sharing"]["gates"], 4);
}

#[test]
fn includes_are_found_beside_their_file() {
    let sandbox = Sandbox::new();
    sandbox.write("main.rules", "include \"parts/a.rules\"\nm: x\n");
    sandbox.write("parts/a.rules", "include \"./b.rules\"\na: y\n");
    sandbox.write("parts/b.rules", "b: z\n");
    assert_eq!(sandbox.run("rules truth main.rules --data nothing.csv").code, 2);
    let shown = sandbox.run("rules check main.rules");
    assert!(shown.out.contains("3 rules over 3 concepts"), "{}", shown.out);
    sandbox.write("parts/b.rules", "b: z\ninclude \"../main.rules\"\n");
    let circular = sandbox.run("rules check main.rules");
    assert_eq!(circular.code, 1);
    assert!(circular.out.contains("E042") && circular.out.contains("parts/b.rules:2:9"), "{}", circular.out);
    sandbox.write("parts/b.rules", "include \"gone.rules\"\n");
    let gone = sandbox.run("rules check main.rules");
    assert!(gone.out.contains("E041") && gone.out.contains("no such file or folder"), "{}", gone.out);
}

#[test]
fn rules_come_from_standard_input_too() {
    let sandbox = Sandbox::new();
    let given = |text: &str| {
        let mut command = sandbox.command("rules fmt -");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        Ran::from(child.wait_with_output().unwrap())
    };
    let ran = given("r:  a->b\n");
    assert_eq!((ran.code, ran.out.as_str()), (0, "r: a => b\n"));
    let ran = given("r:a\n");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("standard input:1:4"), "{}", ran.err);
    sandbox.write("dash.rules", "include \"-\"\n");
    assert!(sandbox.run("rules check dash.rules").out.contains("E041"), "only the command itself reads standard input");
}

#[test]
fn what_a_command_reads_is_never_written_over() {
    let sandbox = sandbox();
    for out in ["labels.csv", "./labels.csv"] {
        let ran = sandbox.run(&format!("rules truth my.rules --data labels.csv -o {out}"));
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains("is what the command reads"), "{}", ran.err);
    }
    assert_eq!(sandbox.read("labels.csv"), LABELS);
    for (words, expected) in [
        ("rules truth my.rules --data labels.csv -o t.parquet", "would not hold what its ending says"),
        ("rules coverage my.rules --data labels.csv -o c.svg", "would not hold what its ending says"),
    ] {
        let ran = sandbox.run(words);
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains(expected), "{}", ran.err);
    }
    assert_eq!(sandbox.run("rules coverage my.rules --data labels.csv -o c.json").code, 0);
    assert!(sandbox.read("c.json").starts_with('['));
    sandbox.write("id.rules", "id: obj:baby => obj:adult\n");
    assert!(sandbox.run("rules truth id.rules --data labels.csv").err.contains("a rule is named `id`"));
}

#[test]
fn an_interrupt_leaves_nothing_half_written() {
    let sandbox = Sandbox::new();
    let concepts: Vec<_> = (0..40).map(|concept| format!("c{concept}")).collect();
    let rules: String = (0..400).map(|rule| format!("r{rule}: c{} => c{}\n", rule % 40, rule % 39)).collect();
    let rows: String = (0..60_000).map(|row| format!("s{row}{}\n", ",1".repeat(40))).collect();
    sandbox.write("many.rules", rules);
    sandbox.write("many.csv", format!("id,{}\n{rows}", concepts.join(",")));
    let before = sandbox.files();
    let mut child = sandbox.command("rules truth many.rules --data many.csv -o truth.csv -q").spawn().unwrap();
    // The temporary file shows that writing has begun.
    while sandbox.files() == before && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(sandbox.files(), before);
}

#[test]
fn what_cannot_run_exits_2_and_says_why() {
    let sandbox = sandbox();
    sandbox.write("dup.csv", "id,obj:baby,obj:adult,rel:adult-watch-baby\nv1,1,1,1\nv1,0,0,0\n");
    sandbox.write("yes.csv", "id,obj:baby,obj:adult,rel:adult-watch-baby\nv1,yes,1,1\n");
    sandbox.write("bad.json", "{\"concepts\":[],\"graphs\":[{\"rule\":\"r\"}]}");
    for (words, expected) in [
        ("rules check none.rules", "cannot read rule file `none.rules`"),
        ("rules check my.rules --data none.csv", "none.csv"),
        ("rules truth my.rules --data dup.csv", "v1"),
        ("rules truth my.rules --data yes.csv", "yes"),
        ("rules truth my.rules --data labels.csv -o no/such/folder/t.csv", "no/such/folder"),
        ("rules check bad.json", "bad.json"),
        ("rules check .", "cannot read rule file"),
        ("rules frobnicate", "unrecognized subcommand"),
        ("rules coverage my.rules", "--data"),
    ] {
        let ran = sandbox.run(words);
        assert_eq!(ran.code, 2, "{words}: {}", ran.err);
        assert!(ran.err.contains(expected), "{words}: {}", ran.err);
        assert!(!ran.err.contains("panicked"), "{words}: {}", ran.err);
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let sandbox = Sandbox::new();
    let rules: String = (0..20_000).map(|rule| format!("r{rule}: a{rule} => b\n")).collect();
    sandbox.write("many.rules", rules);
    let mut child =
        sandbox.command("rules show many.rules").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
}
