//! Scenes: height x width x bands, or pixels x bands, as one matrix of pixels.

use crate::budget::Budget;
use crate::error::{Error, Fault};
use crate::format::Format;
use crate::load::{LoadOptions, format_of, parse_as, slurp};
use crate::mat::{self, MatArray, MatFile};
use crate::npy::{NpyHeader, decode, read_matrix, read_numbers};
use crate::source::{Source, Stream};
use hottopixx::matrix::{Dense, Matrix};

/// How to read a scene.
#[derive(Debug, Clone, Default)]
pub struct CubeOptions {
    /// Height and width, for files that are pixels x bands; pixels go row by row.
    pub shape: Option<(usize, usize)>,
    /// Whether bands come first: bands x pixels, or bands x height x width.
    pub transpose: bool,
    /// Which array of a `.mat` or `.npz` file to take; `None` takes the one that can be meant.
    pub key: Option<String>,
    /// The format of what is no `.mat` file; `None` asks the extension.
    pub format: Option<Format>,
    /// As [`LoadOptions::max_bytes`].
    pub max_bytes: Option<u64>,
}

/// A scene; its values are neither checked nor changed.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedCube {
    /// Pixels x bands, pixels row by row.
    pub pixels: Dense,
    /// Height and width, where the file or the caller says them.
    pub shape: Option<(usize, usize)>,
}

/// Reads a scene: `.npy` and `.mat` (version 5) of three dimensions, or a matrix in any format. A `.mat` file may hold
/// the matrix beside the numbers `nRow` and `nCol`, as the usual benchmarks do; its pixels then go column by column.
///
/// # Errors
/// An [`Error`] that names the file, the place in it and the remedy.
pub fn load_cube(source: &Source, options: &CubeOptions) -> Result<LoadedCube, Error> {
    let name = source.name();
    let stream = Stream::open(source)?;
    read_cube_stream(stream, source.named(), &name, options)
}

/// As [`load_cube`], from any stream of bytes; `name` is what messages call it.
///
/// # Errors
/// As [`load_cube`].
pub fn read_cube(
    reader: impl std::io::Read,
    name: &str,
    options: &CubeOptions,
) -> Result<LoadedCube, Error> {
    let body = crate::source::Body::Other(Box::new(reader));
    let stream = Stream::new(body, None).map_err(|fault| fault.in_file(name))?;
    read_cube_stream(stream, None, name, options)
}

fn read_cube_stream(
    stream: Stream<'_>,
    path: Option<&std::path::Path>,
    name: &str,
    options: &CubeOptions,
) -> Result<LoadedCube, Error> {
    let budget = Budget::new(options.max_bytes);
    let named = path.and_then(|path| path.extension());
    let is_mat = named.is_some_and(|extension| extension.eq_ignore_ascii_case("mat"))
        || (options.format.is_none() && stream.head.starts_with(mat::MAGIC));
    let cube = if is_mat {
        slurp(stream.into_reader(), budget).and_then(|bytes| of_mat(bytes, options, budget))
    } else {
        let known = options.format.or_else(|| path.and_then(Format::from_path));
        match format_of(&stream, name, known, path)? {
            Format::Npy => of_npy(stream, options, budget),
            format => of_matrix(format, stream, options, budget),
        }
    };
    let cube = cube.map_err(|fault| fault.in_file(name))?;
    check_shape(&cube).map_err(|fault| fault.in_file(name))?;
    Ok(cube)
}

/// The shape that was given has to fit.
fn check_shape(cube: &LoadedCube) -> Result<(), Fault> {
    let pixels = cube.pixels.rows();
    match cube.shape {
        Some((height, width)) if height.checked_mul(width) != Some(pixels) => Err(Fault::file(
            format!(
                "there are {pixels} pixels of {} bands, not {height} x {width}",
                cube.pixels.cols()
            ),
            "give --shape another height and width, or --transpose where bands come first",
        )),
        _ => Ok(()),
    }
}

/// An array of three dimensions, by the steps between neighbours in each.
struct Volume {
    values: Vec<f64>,
    dims: [usize; 3],
    steps: [usize; 3],
}

impl Volume {
    fn new(values: Vec<f64>, dims: [usize; 3], first_fastest: bool) -> Self {
        let [a, b, c] = dims;
        let steps = if first_fastest { [1, a, a * b] } else { [b * c, c, 1] };
        Volume { values, dims, steps }
    }

    /// Pixels x bands; bands are the last dimension, or the first.
    fn into_cube(self, options: &CubeOptions) -> Result<LoadedCube, Fault> {
        let order = if options.transpose { [1, 2, 0] } else { [0, 1, 2] };
        let [height, width, bands] = order.map(|k| self.dims[k]);
        let shape = Some((height, width));
        if let Some((h, w)) = options.shape
            && (h, w) != (height, width)
        {
            return Err(Fault::file(
                format!("the scene is {height} x {width} pixels of {bands} bands, not {h} x {w}"),
                "leave --shape out, or give --transpose where bands come first",
            ));
        }
        let [down, across, deep] = order.map(|k| self.steps[k]);
        if (down, across, deep) == (width * bands, bands, 1) {
            return Ok(LoadedCube {
                pixels: Dense::new(height * width, bands, self.values)?,
                shape,
            });
        }
        let mut values = Vec::with_capacity(self.values.len());
        for y in 0..height {
            for x in 0..width {
                let start = y * down + x * across;
                values.extend((0..bands).map(|b| self.values[start + b * deep]));
            }
        }
        Ok(LoadedCube { pixels: Dense::new(height * width, bands, values)?, shape })
    }
}

/// Sizes that fit the memory: three dimensions are first checked as a matrix of the first two by the last.
fn three(dims: &[u64], budget: Budget) -> Result<[usize; 3], Fault> {
    let &[a, b, c] = dims else {
        return Err(Fault::file(
            format!("the array has {} dimensions", dims.len()),
            "give height x width x bands, or pixels x bands with --shape",
        ));
    };
    // No numbers, and yet more rows than can be walked over, or than a product can hold.
    if a == 0 || b == 0 || c == 0 {
        let what = format!("the array of {a} x {b} x {c} is empty");
        return Err(Fault::file(what, "give height x width x bands"));
    }
    let place = crate::error::FileLocation::File;
    budget.dense(a.saturating_mul(b), c, place)?;
    Ok([a as usize, b as usize, c as usize])
}

fn of_npy(stream: Stream<'_>, options: &CubeOptions, budget: Budget) -> Result<LoadedCube, Fault> {
    let length = stream.length;
    let mut reader = stream.into_reader();
    let header = NpyHeader::read(&mut reader)?;
    if header.shape.len() == 2 {
        let parsed = read_matrix(&mut reader, &header, length, budget)?;
        return flat(parsed.turned(options.transpose, budget)?, options.shape);
    }
    let dtype = header.dtype()?;
    let dims = three(&header.shape, budget)?;
    let count = dims.iter().product::<usize>();
    let mut values = Vec::new();
    read_numbers(&mut reader, dtype, count as u64, |bytes| {
        decode(dtype, bytes, &mut values);
        Ok(())
    })?;
    Volume::new(values, dims, header.fortran_order).into_cube(options)
}

/// A matrix in any other format.
fn of_matrix(
    format: Format,
    stream: Stream<'_>,
    options: &CubeOptions,
    budget: Budget,
) -> Result<LoadedCube, Fault> {
    let reading = LoadOptions { key: options.key.clone(), ..LoadOptions::default() };
    let parsed = parse_as(format, stream, &reading, budget)?;
    flat(parsed.turned(options.transpose, budget)?, options.shape)
}

/// Pixels x bands as they are.
fn flat(matrix: Matrix, shape: Option<(usize, usize)>) -> Result<LoadedCube, Fault> {
    match matrix {
        Matrix::Dense(pixels) => Ok(LoadedCube { pixels, shape }),
        Matrix::Sparse(_) => Err(Fault::file(
            "the matrix is sparse, which spectra are not",
            "save it dense, as in numpy.save(file, X.toarray())",
        )),
    }
}

fn of_mat(bytes: Vec<u8>, options: &CubeOptions, budget: Budget) -> Result<LoadedCube, Fault> {
    let file = MatFile::new(bytes)?;
    let array = wanted(&file, options.key.as_deref())?;
    let said = file.scalar("nRow", budget).zip(file.scalar("nCol", budget));
    let whole =
        |v: f64| (v >= 1.0 && v <= f64::from(u32::MAX) && v.fract() == 0.0).then_some(v as usize);
    let said = said.and_then(|(rows, cols)| whole(rows).zip(whole(cols)));
    if array.dims.len() == 3 {
        let dims = three(&array.dims, budget)?;
        let values = file.values(array, budget)?;
        return Volume::new(values, dims, true).into_cube(options);
    }
    let &[rows, cols] = &array.dims[..] else {
        return three(&array.dims, budget).and(Err(Fault::file("unreadable", "save it as .npy")));
    };
    let (rows, cols) = budget.dense(rows, cols, crate::error::FileLocation::File)?;
    let values = file.values(array, budget)?;
    // Column by column is the transpose row by row.
    let turned = Dense::new(cols, rows, values)?;
    let pixels = said.and_then(|(height, width)| height.checked_mul(width));
    match (options.shape, said, pixels) {
        (None, Some((height, width)), Some(pixels)) if rows == pixels || cols == pixels => {
            let bands_first = options.transpose || rows != pixels;
            let pixels = if bands_first { turned } else { turned.transpose() };
            let by_rows: Vec<usize> =
                (0..height * width).map(|at| at / width + (at % width) * height).collect();
            let shape = Some((height, width));
            Ok(match pixels.rows() == by_rows.len() {
                true => LoadedCube { pixels: pixels.select_rows(&by_rows), shape },
                false => LoadedCube { pixels, shape: None },
            })
        }
        _ => {
            let pixels = if options.transpose { turned } else { turned.transpose() };
            Ok(LoadedCube { pixels, shape: options.shape })
        }
    }
}

/// The array of this name, else the only one of three dimensions, else the largest matrix.
fn wanted<'a>(file: &'a MatFile, key: Option<&str>) -> Result<&'a MatArray, Fault> {
    let all: Vec<&MatArray> = file.arrays.iter().collect();
    if let Some(key) = key {
        return all.iter().copied().find(|array| array.name == key).ok_or_else(|| {
            let what =
                format!("there is no array of numbers {}", crate::error::quote(key.as_bytes()));
            Fault::file(what, format!("choose one of {}", mat::listed(&all)))
        });
    }
    let cubes: Vec<&MatArray> = all.iter().copied().filter(|array| array.dims.len() == 3).collect();
    match &cubes[..] {
        [one] => return Ok(one),
        [] => {}
        several => {
            let what = format!("there are {} arrays of three dimensions", several.len());
            let remedy = format!("choose one with --key: {}", mat::listed(several));
            return Err(Fault::file(what, remedy));
        }
    }
    let size = |array: &&MatArray| array.dims.iter().fold(1u64, |n, d| n.saturating_mul(*d));
    let flat = all.iter().copied().filter(|array| array.dims.len() == 2 && size(array) > 1);
    flat.max_by_key(size).ok_or_else(|| {
        Fault::file(
            "there is no array of numbers with height x width x bands",
            "save the cube itself, not inside a structure or a cell",
        )
    })
}
