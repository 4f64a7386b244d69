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
