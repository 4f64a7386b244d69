//! Small pictures: PNG with a palette or in true colour, as text inside a page.

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use std::io::Write as _;

/// Pixels of a side at most; larger pictures are thinned out.
const LARGEST: usize = 512;

/// Which pixels of a scene are shown: every `step`-th.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grid {
    pub height: usize,
    pub width: usize,
    step: usize,
}

impl Grid {
    pub fn new(height: usize, width: usize) -> Self {
        Grid { height, width, step: height.max(width).div_ceil(LARGEST).max(1) }
    }

    fn shown(self) -> (usize, usize) {
        (self.height.div_ceil(self.step), self.width.div_ceil(self.step))
    }

    /// A picture with the colour of every pixel that is shown, as the text of a data address.
    pub fn picture(self, colour: impl Fn(usize) -> [u8; 3]) -> String {
        let (height, width) = self.shown();
        let mut rows = Vec::with_capacity(height * (1 + 3 * width));
        for y in 0..height {
            rows.push(0); // no filter
            for x in 0..width {
                rows.extend(colour(y * self.step * self.width + x * self.step));
            }
        }
        format!("data:image/png;base64,{}", base64(&png(width, height, &rows)))
    }
}

/// The file of true-colour rows, each behind its filter byte.
fn png(width: usize, height: usize, rows: &[u8]) -> Vec<u8> {
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::new();
    header.extend((width as u32).to_be_bytes());
    header.extend((height as u32).to_be_bytes());
    header.extend([8, 2, 0, 0, 0]); // eight bits, true colour
    chunk(&mut out, b"IHDR", &header);
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // Writing to memory does not fail.
    let packed = encoder.write_all(rows).and_then(|()| encoder.finish()).unwrap_or_default();
    chunk(&mut out, b"IDAT", &packed);
    chunk(&mut out, b"IEND", &[]);
    out
}

fn chunk(out: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    out.extend((data.len() as u32).to_be_bytes());
    let begin = out.len();
    out.extend(name);
    out.extend(data);
    let mut crc = Crc::new();
    crc.update(&out[begin..]);
    out.extend(crc.sum().to_be_bytes());
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word =
            three.iter().fold(0u32, |word, b| word << 8 | u32::from(*b)) << (8 * (3 - three.len()));
        for k in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * k)) as usize & 63];
            out.push(if k <= three.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

/// From dark to bright, told apart by the colour-blind and on grey paper: the corners of viridis.
pub(super) fn ramp(value: f64) -> [u8; 3] {
    const STOPS: [[f64; 3]; 6] = [
        [68.0, 1.0, 84.0],
        [65.0, 68.0, 135.0],
        [42.0, 120.0, 142.0],
        [34.0, 168.0, 132.0],
        [122.0, 209.0, 81.0],
        [253.0, 231.0, 37.0],
    ];
    let value = if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) };
    let place = value * (STOPS.len() - 1) as f64;
    let at = (place as usize).min(STOPS.len() - 2);
    let part = place - at as f64;
    std::array::from_fn(|c| (STOPS[at][c] * (1.0 - part) + STOPS[at + 1][c] * part) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_bytes() {
        let said = ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes()));
        assert_eq!(said, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
    }

    #[test]
    fn the_ramp_goes_from_dark_to_bright() {
        let light = |v: f64| ramp(v).iter().map(|c| u32::from(*c)).sum::<u32>();
        assert!((0..10).all(|k| light(k as f64 / 10.0) < light((k + 1) as f64 / 10.0)));
        assert_eq!((ramp(f64::NAN), ramp(9.0)), (ramp(0.0), ramp(1.0)));
    }

    #[test]
    fn large_scenes_are_thinned_out() {
        let grid = Grid::new(1200, 700);
        assert_eq!(grid.shown(), (400, 234));
        assert!(grid.picture(|i| [(i % 7) as u8; 3]).len() < 1_200_000);
    }
}
