//! What the machine has and what this process has taken of it, as far as the system tells (Linux).

use std::fs;

/// Memory of the machine, or of the container that this process runs in where it has less, in bytes.
pub fn memory() -> Option<u64> {
    let machine = kibibytes("/proc/meminfo", "MemTotal:");
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let container = container_limit(&groups, |file| fs::read_to_string(file).ok());
    machine.into_iter().chain(container).min()
}

/// The least limit of the control groups that a process is in, and of those around them. `groups` is what
/// the system says of them: `0::/path` (version 2) or `4:memory:/path` (version 1); inside a container the
/// path may be one of the machine, so that the root is asked as well.
fn container_limit(groups: &str, read: impl Fn(&str) -> Option<String>) -> Option<u64> {
    let mut least = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            some if some.split(',').any(|one| one == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        for folder in std::path::Path::new(path).ancestors() {
            let folder = folder.to_string_lossy();
            let limit = read(&format!("{root}{}/{file}", folder.trim_end_matches('/')));
            // `max` is no number, and no limit.
            let limit = limit.and_then(|text| text.trim().parse::<u64>().ok());
            least = least.into_iter().chain(limit).min();
        }
    }
    least
}

/// What the maker calls the processor.
pub fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.split_whitespace().collect::<Vec<_>>().join(" "))
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
    fn limits_of_containers_count() {
        let limit = |groups: &str, files: &[(&str, &str)]| {
            container_limit(groups, |file| {
                files.iter().find(|known| known.0 == file).map(|known| known.1.to_owned())
            })
        };
        let v2 = [
            ("/sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("/sys/fs/cgroup/a/memory.max", "8589934592\n"),
            ("/sys/fs/cgroup/memory.max", "17179869184\n"),
        ];
        assert_eq!(limit("0::/a/b\n", &v2), Some(8 << 30));
        assert_eq!(limit("0::/\n", &v2), Some(16 << 30));
        assert_eq!(limit("0::/elsewhere/../x\n", &v2), Some(16 << 30));
        let v1 = [
            ("/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "9223372036854771712\n"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n"),
        ];
        let groups = "12:cpu,cpuacct:/y\n4:memory:/docker/x\n1:name=systemd:/z\n";
        assert_eq!(limit(groups, &v1), Some(512 << 20));
        assert_eq!((limit(groups, &v2), limit("nonsense\n:::\n", &v1)), (None, None));
    }

    #[test]
    fn threads_are_those_asked_for_or_all() {
        assert_eq!(threads(3), 3);
        assert!(threads(0) >= 1);
    }
}
