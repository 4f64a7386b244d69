//! Computations that Python can interrupt, and errors in its words.

use hottopixx::Error;
use hottopixx::control::{Control, Observer, Progress};
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
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
/// done. After a signal, such as Ctrl-C, or an exception in the caller's progress function the thread
/// is told to stop, and the call ends when it has, well within a second: it reads the caller's
/// arrays, which are the caller's again from then on.
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
    let (sender, receiver) = channel();
    let worker = std::thread::Builder::new()
        .name("hottopixx".to_owned())
        .spawn(move || {
            // Whoever waits for the end of the thread needs no answer.
            sender.send(work(&control)).unwrap_or_default();
        })
        .map_err(|error| PyOSError::new_err(format!("no thread to compute on: {error}")))?;
    let answer = wait(py, run, &latest, receiver);
    stop.store(true, Ordering::Relaxed);
    // An answer may be on its way while the thread still lets go of the arrays.
    // That it broke off is known from the channel.
    let _ = py.detach(move || worker.join());
    match answer? {
        Some(answer) => {
            latest.tell(py, run.progress.as_ref())?;
            answer.map_err(to_python)
        }
        None => Err(PyRuntimeError::new_err("the computation broke off: please report it")),
    }
}

/// The answer, or what the interpreter has to say before there is one; `None` when there will be
/// none.
fn wait<T: Send>(
    py: Python<'_>,
    run: &Run,
    latest: &Latest,
    mut receiver: Receiver<T>,
) -> PyResult<Option<T>> {
    loop {
        let answer;
        (answer, receiver) = py.detach(move || (receiver.recv_timeout(LOOK), receiver));
        match answer {
            Ok(answer) => return Ok(Some(answer)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
        py.check_signals().and_then(|()| latest.tell(py, run.progress.as_ref()))?;
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
struct Latest(Mutex<Option<ProgressReport>>);

type ProgressReport = (&'static str, String, usize, Option<usize>, Option<(String, f64)>);

impl Observer for Latest {
    fn progress(&self, progress: &Progress<'_>) {
        let stage = progress.stage.name();
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
