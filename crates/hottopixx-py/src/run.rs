//! Computations that Python can interrupt, and errors in its words.

use hottopixx::Error;
use hottopixx::control::{Control, Observer, Progress, Stage};
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

create_exception!(hottopixx, InfeasibleError, PyValueError, "Proven: there is no answer.");
create_exception!(hottopixx, NoAnswerError, PyRuntimeError, "A limit came before any answer.");

/// How often the interpreter looks for signals and reports progress.
const LOOK: Duration = Duration::from_millis(100);

/// What the caller may set about a run.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Run {
    /// Seconds after which the best answer so far will do.
    max_seconds: Option<f64>,
    /// Called as `progress(stage, task, done, total, figure)`.
    progress: Option<Py<PyAny>>,
}

/// Does the work on a thread of its own with the interpreter released, and returns as soon as it is
/// done. A signal, such as Ctrl-C, or an exception in the caller's progress function ends the
/// call at once; the thread is told to stop and ends by itself soon after.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    run: &Run,
    work: impl FnOnce(&Control) -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let latest = Arc::new(Latest::default());
    let mut control = Control::default().with_stop_flag(stop.clone());
    if let Some(seconds) = run.max_seconds {
        let limit = Duration::try_from_secs_f64(seconds).map_err(|_| {
            PyValueError::new_err(format!("max_seconds is {seconds}: give a positive number"))
        })?;
        if let Some(deadline) = Instant::now().checked_add(limit) {
            control = control.with_deadline(deadline);
        }
    }
    if run.progress.is_some() {
        control = control.with_observer(latest.clone());
    }
    let (sender, mut receiver) = channel();
    std::thread::Builder::new()
        .name("hottopixx".to_owned())
        .spawn(move || sender.send(work(&control)).unwrap_or_default())
        .map_err(|error| PyOSError::new_err(format!("no thread to compute on: {error}")))?;
    loop {
        let answer;
        (answer, receiver) = py.detach(move || (receiver.recv_timeout(LOOK), receiver));
        match answer {
            Ok(answer) => {
                latest.tell(py, run.progress.as_ref())?;
                return answer.map_err(to_python);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the computation broke off: please report it"));
            }
        }
        let looked = py.check_signals().and_then(|()| latest.tell(py, run.progress.as_ref()));
        if let Err(error) = looked {
            stop.store(true, Ordering::Relaxed);
            return Err(error);
        }
    }
}

/// The error in Python, with the same sentence as on the command line.
pub fn to_python(error: Error) -> PyErr {
    let sentence = error.to_string();
    match error {
        Error::Infeasible { .. } => InfeasibleError::new_err(sentence),
        Error::NoAnswer(_) => NoAnswerError::new_err(sentence),
        _ => PyValueError::new_err(sentence),
    }
}

/// The last report of progress that Python has not heard of.
#[derive(Default)]
struct Latest(Mutex<Option<Report>>);

type Report = (&'static str, String, usize, Option<usize>, Option<(String, f64)>);

impl Observer for Latest {
    fn progress(&self, progress: &Progress<'_>) {
        let stage = match progress.stage {
            Stage::Normalise => "normalise",
            Stage::Localise => "localise",
            Stage::Select => "select",
            Stage::Clean => "clean",
        };
        let figure = progress.figure.map(|(name, value)| (name.to_owned(), value));
        let report = (stage, progress.task.to_owned(), progress.done, progress.total, figure);
        if let Ok(mut latest) = self.0.lock() {
            *latest = Some(report);
        }
    }
}

impl Latest {
    fn tell(&self, py: Python<'_>, listener: Option<&Py<PyAny>>) -> PyResult<()> {
        let report = self.0.lock().ok().and_then(|mut latest| latest.take());
        if let (Some(listener), Some(report)) = (listener, report) {
            listener.call1(py, report)?;
        }
        Ok(())
    }
}
