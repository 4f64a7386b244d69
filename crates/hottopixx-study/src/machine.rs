//! The machine that measurements were made on, in a line that says nothing about its owner.

use hottopixx_io::machine;

/// Processor, number of threads, memory, system; what the system does not tell is left out.
pub fn description() -> String {
    let mut parts = Vec::new();
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name"));
    parts.extend(model.map(|name| name.trim_start_matches([' ', '\t', ':']).trim().to_owned()));
    parts.push(format!("{} threads", machine::threads(0)));
    let gibibytes = machine::memory().map(|bytes| bytes as f64 / f64::from(1 << 30));
    parts.extend(gibibytes.map(|gibibytes| format!("{gibibytes:.0} GiB of memory")));
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
