//! What `--version` says beyond the number: what a bug report should begin with.

use hottopixx_io::machine;
use hottopixx_report::text::size;
use std::sync::OnceLock;

/// The number, how the program was built, and the machine that it runs on, one per line.
pub fn long() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let version = env!("CARGO_PKG_VERSION");
        let memory = machine::memory().map_or_else(|| "unknown".to_owned(), size);
        format!("{version}\nbuilt     {}\nprocessor {}\nmemory    {memory}", built(), processor())
    })
}

/// How the program was built.
fn built() -> String {
    let profile = if cfg!(debug_assertions) { "for development" } else { "for release" };
    let library = [("gnu", cfg!(target_env = "gnu")), ("musl", cfg!(target_env = "musl"))];
    let library =
        library.iter().find(|(_, is)| *is).map_or(String::new(), |(name, _)| format!(" {name}"));
    format!("{profile}, {} {}{library}", std::env::consts::ARCH, std::env::consts::OS)
}

/// The processor, what the fast paths use of it, and how many threads it runs.
pub fn processor() -> String {
    let name = machine::processor().unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let used = instructions();
    let used = if used.is_empty() { "no vector instructions".to_owned() } else { used.join(", ") };
    format!("{name}: {used}; {} threads", machine::threads(0))
}

/// The sets of instructions that there are faster paths for, and that this machine has.
fn instructions() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        let sets = [
            ("avx512f", std::arch::is_x86_feature_detected!("avx512f")),
            ("avx2", std::arch::is_x86_feature_detected!("avx2")),
            ("fma", std::arch::is_x86_feature_detected!("fma")),
        ];
        sets.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect()
    }
    #[cfg(target_arch = "aarch64")]
    {
        vec!["neon"]
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        Vec::new()
    }
}

/// An error for what a later version has written.
pub fn refuse_newer(version: &str) -> Result<(), String> {
    let own = env!("CARGO_PKG_VERSION");
    match is_newer(version, own) {
        true => Err(format!("it was written by version {version}, and this is {own}")),
        false => Ok(()),
    }
}

/// Whether a version such as 1.2.3 comes after another; one that cannot be read does not.
fn is_newer(version: &str, than: &str) -> bool {
    let parts = |text: &str| -> Vec<u64> {
        text.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect()
    };
    parts(version) > parts(than)
}

#[cfg(test)]
mod tests {
    use super::is_newer;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(
            is_newer("0.10.0", "0.9.1") && is_newer("1.0.0", "0.9") && !is_newer("0.1.0", "0.1.0")
        );
        assert!(!is_newer("", "0.1.0") && !is_newer("x", "0.1.0"));
    }
}
