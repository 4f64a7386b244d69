//! What the machine has and what this process has taken of it, as far as the system tells (Linux).

use std::fs;

/// Memory of the machine, in bytes.
pub fn memory() -> Option<u64> {
    kibibytes("/proc/meminfo", "MemTotal:")
}

/// Three quarters of the machine's memory; 8 GiB where that is not known.
pub fn usual_memory() -> u64 {
    memory().map_or(8 << 30, |bytes| bytes / 4 * 3)
}

/// The largest resident memory of this process so far, or since [`reset_peak_memory`], in bytes.
pub fn peak_memory() -> Option<u64> {
    kibibytes("/proc/self/status", "VmHWM:")
}

/// Forgets the peak of memory so far, where the system can do that.
pub fn reset_peak_memory() {
    // Elsewhere, and where it is not permitted, the peak is that of the whole process.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The number of threads that was asked for, 0 standing for one per processor.
pub fn threads(asked: usize) -> usize {
    match asked {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// Processor, number of threads, memory and system in a line that says nothing about the machine's
/// owner; what the system does not tell is left out.
pub fn description() -> String {
    let mut parts = Vec::new();
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name"));
    parts.extend(model.map(|name| name.trim_start_matches([' ', '\t', ':']).trim().to_owned()));
    parts.push(format!("{} threads", threads(0)));
    let gibibytes = memory().map(|bytes| bytes as f64 / f64::from(1 << 30));
    parts.extend(gibibytes.map(|gibibytes| format!("{gibibytes:.0} GiB of memory")));
    parts.push(format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH));
    parts.join(", ")
}

/// The figure after `name` in a file of the system, in bytes.
fn kibibytes(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_system_tells_memory() {
        reset_peak_memory();
        let (all, peak) = (memory().unwrap(), peak_memory().unwrap());
        assert!(100_000 < peak && peak < all, "{peak} of {all}");
        assert!(usual_memory() < all);
    }

    #[test]
    fn the_description_names_the_system_in_one_line() {
        let line = description();
        assert!(line.contains(std::env::consts::ARCH) && !line.contains('\n'), "{line}");
    }

    #[test]
    fn threads_are_those_asked_for_or_all() {
        assert_eq!(threads(3), 3);
        assert!(threads(0) >= 1);
    }
}
