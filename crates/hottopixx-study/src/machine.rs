//! The machine that measurements were made on, in a line that says nothing about its owner.

/// Processor, number of threads, memory, system; what the system does not tell is left out.
pub fn description() -> String {
    let mut parts = Vec::new();
    let line = |file: &str, name: &str| {
        let text = std::fs::read_to_string(file).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim_start_matches([' ', '\t', ':']).trim().to_owned())
    };
    parts.extend(line("/proc/cpuinfo", "model name"));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    parts.push(format!("{threads} threads"));
    let memory = line("/proc/meminfo", "MemTotal");
    let kibibytes = memory.and_then(|text| text.strip_suffix("kB")?.trim().parse::<f64>().ok());
    parts.extend(kibibytes.map(|k| format!("{:.0} GiB of memory", k / 1024.0 / 1024.0)));
    parts.push(format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_names_the_system_in_one_line() {
        let line = super::description();
        assert!(line.contains(std::env::consts::ARCH) && !line.contains('\n'), "{line}");
    }
}
