//! `unmix` on a small scene.

use crate::common::{Folder, error};
use serde_json::Value;

const HEIGHT: usize = 12;
const WIDTH: usize = 15;
const BANDS: usize = 20;

/// Two materials from left to right, some texture, one saturated pixel, one dead one.
fn values() -> Vec<f64> {
    let mut values = Vec::new();
    for i in 0..HEIGHT * WIDTH {
        let share = (i % WIDTH) as f64 / (WIDTH - 1) as f64;
        for b in 0..BANDS {
            let t = b as f64 / (BANDS - 1) as f64;
            let texture = 1.0 + 0.004 * ((i * 7 + b * 13) % 11) as f64;
            values.push((0.2 + share * t + (1.0 - share) * (1.0 - t)) * texture);
        }
    }
    values[40 * BANDS + 3] = 20.0;
    values[100 * BANDS..101 * BANDS].fill(0.0);
    values
}

fn npy(shape: &str, values: &[f64]) -> Vec<u8> {
    let text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((text.len() as u16).to_le_bytes());
    out.extend(text.as_bytes());
    out.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    out
}

#[test]
fn a_cube_gives_materials_maps_and_a_page() {
    let folder = Folder::new();
    folder.write("cube.npy", npy(&format!("({HEIGHT}, {WIDTH}, {BANDS})"), &values()));
    let wavelengths: String = (0..BANDS).map(|b| format!("{}\n", 400 + 20 * b)).collect();
    folder.write("nm.txt", wavelengths);
    let flags = ["unmix", "cube.npy", "--rank", "2", "--wavelengths", "nm.txt", "--out", "answer"];
    let text = folder.text(&flags);
    for part in ["12 x 15 pixels, 20 bands", "pure pixel (row, column)", "(2, 10)", "(6, 10)"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let long = |line: &&str| line.chars().count() > 80 && !line.contains("written");
    assert!(!text.lines().any(|line| long(&line)), "{text}");

    let summary: Value = serde_json::from_slice(&folder.read("answer/summary.json")).unwrap();
    let columns: Vec<u64> =
        [0, 1].map(|k| summary["materials"][k]["column"].as_u64().unwrap()).to_vec();
    assert!(columns.iter().min() <= Some(&2) && columns.iter().max() >= Some(&12), "{columns:?}");
    assert!(summary["mean_error"].as_f64().unwrap() < 0.05);
    assert_eq!(
        (&summary["outliers"][0]["pixel"], &summary["dark"][0]["pixel"]),
        (&40.into(), &100.into())
    );
    let bytes = folder.read("answer/abundances.npy");
    assert!(String::from_utf8_lossy(&bytes[..128]).contains("(12, 15, 2,)"));
    assert_eq!(bytes.len() % 64, (8 * HEIGHT * WIDTH * 2) % 64);
    assert!(
        String::from_utf8_lossy(&folder.read("answer/errors.npy")[..128]).contains("(12, 15,)")
    );
    let table = String::from_utf8(folder.read("answer/materials.csv")).unwrap();
    assert_eq!(table.lines().count(), 3);
    let page = String::from_utf8(folder.read("answer/report.html")).unwrap();
    assert!(page.contains("data:image/png;base64,") && page.contains("wavelength"));

    // The same again replaces its own files, and pixels x bands with a shape is the same scene.
    folder.write("flat.npy", npy(&format!("({}, {BANDS})", HEIGHT * WIDTH), &values()));
    folder.text(&flags);
    let json = |args: &[&str]| -> Value { serde_json::from_str(&folder.text(args)).unwrap() };
    let cube = json(&["unmix", "cube.npy", "--rank", "2", "--json"]);
    let flat = json(&["unmix", "flat.npy", "--shape", "12x15", "--rank", "2", "--json"]);
    assert_eq!(cube["materials"], flat["materials"]);
}

#[test]
fn info_tells_a_scene_and_what_unmix_would_refuse() {
    let folder = Folder::new();
    let mut some = values();
    some[25] = -0.5;
    some[(2 * WIDTH + 4) * BANDS + 7] = f64::NAN;
    folder.write("cube.npy", npy(&format!("({HEIGHT}, {WIDTH}, {BANDS})"), &some));
    let info = folder.json(&["info", "cube.npy", "--json"]);
    let found =
        ["height", "width", "bands", "negative", "not_finite", "dark"].map(|key| &info[key]);
    assert_eq!(found, [HEIGHT, WIDTH, BANDS, 1, 1, 1].map(Value::from).each_ref());
    let text = folder.text(&["info", "cube.npy"]);
    for part in [
        "a scene of 12 x 15 pixels, 20 bands",
        "1 value below zero: --negative clip",
        "1 value NaN or infinite",
        "hottopixx unmix cube.npy --rank 5",
    ] {
        assert!(text.contains(part), "{text}");
    }
    // Bands first.
    folder.write("cube.npy", npy(&format!("({BANDS}, {HEIGHT}, {WIDTH})"), &values()));
    let info = folder.json(&["info", "cube.npy", "--transpose", "--json"]);
    assert_eq!((&info["height"], &info["bands"]), (&HEIGHT.into(), &BANDS.into()));
    assert_eq!(info["next"][0], "hottopixx unmix cube.npy --transpose --rank 5");
}

#[test]
fn wrong_scenes_are_refused_with_a_remedy() {
    let folder = Folder::new();
    let mut bad = values();
    bad[25] = -0.5;
    folder.write("cube.npy", npy(&format!("({HEIGHT}, {WIDTH}, {BANDS})"), &bad));
    folder.write("nm.txt", "400\n500\n");
    let refused = |flags: &[&str], part: &str| {
        let output = folder.run(&[&["unmix", "cube.npy", "--rank", "2"], flags].concat());
        assert_eq!(output.status.code(), Some(1), "{flags:?}");
        assert!(error(&output).contains(part), "{}", error(&output));
    };
    refused(&[], "give --negative clip");
    refused(
        &["--negative", "clip", "--wavelengths", "nm.txt"],
        "2 wavelengths, but the scene has 20 bands",
    );
    refused(&["--negative", "clip", "--shape", "3x4"], "not 3 x 4");
    let clipped = folder.text(&["unmix", "cube.npy", "--rank", "2", "--negative", "clip"]);
    assert!(clipped.contains("1 value was below zero and counted as zero"), "{clipped}");
    bad[(2 * WIDTH + 4) * BANDS + 7] = f64::NAN;
    folder.write("cube.npy", npy(&format!("({HEIGHT}, {WIDTH}, {BANDS})"), &bad));
    let line = folder.refusal(&["unmix", "cube.npy", "--rank", "2"], 1);
    assert!(line.contains("NaN in pixel (2, 4), band 7"), "{line}");
    let output = folder.run(&["unmix", "cube.npy", "--rank", "auto"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        error(&output).contains("give a number; errors for every number"),
        "{}",
        error(&output)
    );
}
