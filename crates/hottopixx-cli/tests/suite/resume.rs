//! A run that is killed, at any moment and again and again, ends with the bytes of one that never
//! was.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Kills in all, over both kinds of data.
const KILLS: usize = 20;

fn hottopixx(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hottopixx"));
    command.args(args).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn generate(folder: &Path, args: &[&str]) -> String {
    let name = folder.join(if args[0] == "multinomial" { "X.npz" } else { "X.npy" });
    let name = name.to_str().unwrap().to_owned();
    let done = hottopixx(&["generate", "--seed", "3", "--out", &name]).args(args).status();
    assert!(done.unwrap().success());
    name
}

/// The files whose bytes must be the same; the summary has times in it.
fn answer(folder: &Path) -> Vec<Vec<u8>> {
    let read = |name: &str| std::fs::read(folder.join(name)).ok();
    let names = ["hott.csv", "F.npy", "W.npy", "F.npz", "W.npz"];
    let found: Vec<Vec<u8>> = names.into_iter().filter_map(read).collect();
    assert_eq!(found.len(), 3, "{}", folder.display());
    found
}

/// Moments spread over the length of a run, in no order (a Weyl sequence).
fn moment(k: usize, whole: Duration) -> Duration {
    whole.mul_f64((0.37 + 0.618_034 * k as f64).fract())
}

/// Whether the run ended by itself before the moment came.
fn kill_after(child: &mut Child, moment: Duration) -> bool {
    let started = Instant::now();
    while started.elapsed() < moment {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap(); // SIGKILL: no handler runs
    child.wait().unwrap();
    false
}

fn killed_and_resumed(recipe: &[&str], rank: &str, kills: usize) {
    let folder = tempfile::tempdir().unwrap();
    let input = generate(folder.path(), recipe);
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (whole, part, state) = (path("whole"), path("part"), path("state"));
    let run = ["factor", &input, "--rank", rank, "--method", "hottopixx", "--epochs", "60"];
    let started = Instant::now();
    assert!(hottopixx(&run).args(["--out", &whole, "--threads", "1"]).status().unwrap().success());
    let length = started.elapsed();
    let resumed = || {
        let mut command = hottopixx(&run);
        let every = ["--checkpoint-every", "0", "--resume"];
        command.args(["--out", &part, "--checkpoint", &state]).args(every);
        command
    };
    let (mut killed, mut continued) = (0, 0);
    for k in 0.. {
        continued += usize::from(Path::new(&state).exists());
        let mut child = resumed().spawn().unwrap();
        if !kill_after(&mut child, moment(k, length)) {
            killed += 1;
        }
        if killed == kills {
            break;
        }
    }
    assert!(continued > kills / 4, "only {continued} runs had a state to go on from");
    assert!(resumed().status().unwrap().success());
    assert_eq!(answer(Path::new(&whole)), answer(Path::new(&part)));
    assert!(!Path::new(&state).exists(), "a finished run needs no state");
}

#[test]
fn dense_runs_survive_being_killed() {
    let recipe = ["paper", "--features", "60", "--examples", "800", "--rank", "4"];
    killed_and_resumed(&recipe, "4", KILLS / 2);
}

#[test]
fn sparse_runs_survive_being_killed() {
    let recipe = ["multinomial", "--features", "150", "--examples", "400", "--rank", "5"];
    killed_and_resumed(&recipe, "5", KILLS / 2);
}

#[test]
fn states_of_other_runs_are_refused_and_none_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let input = generate(folder.path(), &["paper", "--rank", "3"]);
    let state = folder.path().join("state");
    std::fs::write(&state, "something else").unwrap();
    let state = state.to_str().unwrap();
    let run = ["factor", &input, "--rank", "3", "--method", "hottopixx", "--checkpoint", state];
    for (more, sentence) in [
        (&[][..], "exists: add --resume to go on from it, or remove it"),
        (&["--resume"], "it is not a checkpoint, or a damaged one: remove it"),
        (&["--resume", "--checkpoint-every", "-1"], "give seconds, such as 120"),
    ] {
        let output = hottopixx(&run).args(more).stderr(Stdio::piped()).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(sentence), "{text}");
        assert_eq!(std::fs::read_to_string(state).unwrap(), "something else");
    }
    let alone = ["factor", &input, "--rank", "3", "--resume"];
    assert_eq!(hottopixx(&alone).status().unwrap().code(), Some(2));
}
