//! The thread that owns the model: admits jobs, decodes them together, and hands
//! out their pieces.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use llama_cpp_2::llama_backend::LlamaBackend;
use plenary_domain::FailureKind;
use plenary_engine::ports::Piece;

use super::Job;
use super::decoder::{Decoder, Manner};
use super::loaded::Loaded;
use super::sequence::Sequence;
use super::threads::Machine;
use crate::failure::last;

/// A model that nobody has asked for this long is given back.
const UNLOAD_AFTER: Duration = Duration::from_secs(300);
/// Who waits is told so this often, so that nobody takes it for dead.
const TELL_EVERY: Duration = Duration::from_secs(10);

pub fn start() -> std::io::Result<Sender<Job>> {
    let (send, jobs) = mpsc::channel();
    std::thread::Builder::new().name("local-model".into()).spawn(move || run(&jobs))?;
    Ok(send)
}

fn run(jobs: &Receiver<Job>) {
    let mut waiting = Waiting::new(jobs);
    let Ok(mut backend) = LlamaBackend::init() else {
        while let Some(job) = waiting.next() {
            let message = "The local engine could not be started.".to_owned();
            let _ = job.pieces.send(Err(last(FailureKind::Misconfigured, message)));
        }
        return;
    };
    backend.void_logs();
    let mut machine = Machine::new();
    // One model at a time; another one is loaded when the first has nothing to do.
    while let Some(path) = waiting.wanted() {
        match Loaded::open(&backend, &path) {
            Ok(loaded) => {
                let mut threads = Some(machine.threads());
                while let Some(now) = threads {
                    threads = serve(&loaded, &path, now, &mut waiting, &mut machine);
                }
            }
            Err(problem) => {
                if let Some(job) = waiting.next() {
                    let _ = job.pieces.send(Err(last(FailureKind::Misconfigured, problem)));
                }
            }
        }
    }
}

/// Answers all that want this model, until another one is wanted or nobody asks; or until
/// another number of threads would do better, with which it is to go on.
fn serve(
    loaded: &Loaded<'_>,
    path: &Path,
    threads: usize,
    waiting: &mut Waiting<'_>,
    machine: &mut Machine,
) -> Option<usize> {
    let mut decoder = match Decoder::new(loaded, Manner::usual(threads)) {
        Ok(decoder) => decoder,
        Err(problem) => {
            if let Some(job) = waiting.next() {
                let _ = job.pieces.send(Err(last(FailureKind::Misconfigured, problem)));
            }
            return None;
        }
    };
    loop {
        if decoder.is_idle() {
            if !waiting.wait(UNLOAD_AFTER) {
                return None;
            }
            if let Some(others) = machine.others_than(threads) {
                return Some(others);
            }
        }
        waiting.take_new();
        while decoder.has_room()
            && let Some(job) = waiting.next_for(path)
        {
            decoder.admit(job);
        }
        if decoder.is_idle() {
            if waiting.is_empty() {
                continue;
            }
            // Whoever is first wants another model.
            return None;
        }
        waiting.tell(decoder.held());
        decoder.step();
    }
}

/// Jobs that wait, in order.
struct Waiting<'a> {
    jobs: &'a Receiver<Job>,
    queue: VecDeque<Job>,
    told: Option<(usize, Instant)>,
    over: bool,
}

impl<'a> Waiting<'a> {
    fn new(jobs: &'a Receiver<Job>) -> Self {
        Waiting { jobs, queue: VecDeque::new(), told: None, over: false }
    }

    fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    fn take_new(&mut self) {
        self.queue.extend(self.jobs.try_iter());
        self.queue.retain(|job| !job.pieces.is_closed());
    }

    /// Waits for a job. False: none came in time, or none can come any more.
    fn wait(&mut self, time: Duration) -> bool {
        if !self.queue.is_empty() {
            return true;
        }
        match self.jobs.recv_timeout(time) {
            Ok(job) => self.queue.push_back(job),
            Err(RecvTimeoutError::Timeout) => return false,
            Err(RecvTimeoutError::Disconnected) => {
                self.over = true;
                return false;
            }
        }
        true
    }

    /// The model that the first job wants; waits for a job as long as it takes.
    fn wanted(&mut self) -> Option<PathBuf> {
        while self.queue.is_empty() && !self.over {
            match self.jobs.recv() {
                Ok(job) => self.queue.push_back(job),
                Err(_) => self.over = true,
            }
        }
        self.queue.front().map(|job| job.path.clone())
    }

    fn next(&mut self) -> Option<Job> {
        self.wanted()?;
        self.queue.pop_front()
    }

    /// The first job, if it wants this model: nobody is overtaken.
    fn next_for(&mut self, path: &Path) -> Option<Job> {
        self.queue.pop_front_if(|job| job.path == path)
    }

    /// Tells everybody their place when it has changed, and now and then.
    fn tell(&mut self, held: Option<&Sequence>) {
        let before = usize::from(held.is_some());
        let waiting = self.queue.len() + before;
        let fresh =
            self.told.is_some_and(|(then, at)| then == waiting && at.elapsed() < TELL_EVERY);
        if waiting == 0 || fresh {
            return;
        }
        self.told = Some((waiting, Instant::now()));
        held.into_iter().for_each(Sequence::wait);
        for (ahead, job) in self.queue.iter().enumerate() {
            let _ = job.pieces.send(Ok(Piece::Waiting { place: before + ahead + 1 }));
        }
    }
}
