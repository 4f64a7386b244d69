#!/bin/sh
# Installs the command hottopixx: finds the program for this machine among those of a release, checks its
# SHA-256, and puts it where programs of the user are. Needs curl or wget, tar, and sha256sum or shasum.
#
#     sh install.sh                        # the release that this script is part of, into ~/.local/bin
#     sh install.sh --to /usr/local/bin    # elsewhere
#     sh install.sh --from ADDRESS         # from another release, or from a folder with its files
#
# The workflow of releases writes the address of the release here.
set -eu

from="${HOTTOPIXX_FROM:-@RELEASE@}"
to="${HOTTOPIXX_TO:-$HOME/.local/bin}"

say() { printf 'hottopixx: %s\n' "$*"; }
fail() {
    printf 'hottopixx: %s\n' "$*" >&2
    exit 1
}

while [ $# -gt 0 ]; do
    case "$1" in
        --from) from="${2:?--from needs an address or a folder}" && shift 2 ;;
        --to) to="${2:?--to needs a folder}" && shift 2 ;;
        --help | -h) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" && exit 0 ;;
        *) fail "$1 is not known: see --help" ;;
    esac
done
case "$from" in
    @*) fail "this copy of the script belongs to no release: say where from with --from" ;;
esac

# HOTTOPIXX_SYSTEM and HOTTOPIXX_PROCESSOR are for tests.
system="${HOTTOPIXX_SYSTEM:-$(uname -s)}"
processor="${HOTTOPIXX_PROCESSOR:-$(uname -m)}"
case "$processor" in
    x86_64 | amd64) processor=x86_64 ;;
    aarch64 | arm64) processor=aarch64 ;;
    *) fail "there is no program for the processor $processor: build it with cargo install hottopixx-cli" ;;
esac
case "$system" in
    Linux) target="$processor-unknown-linux-musl" ;;
    Darwin) target="$processor-apple-darwin" ;;
    *) fail "there is no program for $system here: take the archive for Windows, or pip install hottopixx" ;;
esac
name="hottopixx-$target.tar.gz"

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT INT TERM

fetch() {
    case "$from" in
        *://*)
            if command -v curl >/dev/null; then
                curl --proto '=https' --tlsv1.2 -fsSL "$from/$1" -o "$work/$1"
            elif command -v wget >/dev/null; then
                wget -q "$from/$1" -O "$work/$1"
            else
                fail "neither curl nor wget is here: install one of them"
            fi
            ;;
        *) cp "$from/$1" "$work/$1" ;;
    esac || fail "$from/$1 could not be fetched: check the address and the network"
}

fetch SHA256SUMS
fetch "$name"
expected="$(awk -v name="$name" '$2 == name || $2 == "*" name { print $1 }' "$work/SHA256SUMS")"
[ -n "$expected" ] || fail "SHA256SUMS does not list $name: the release is not whole"
if command -v sha256sum >/dev/null; then
    found="$(sha256sum "$work/$name")"
else
    found="$(shasum -a 256 "$work/$name")"
fi
[ "${found%% *}" = "$expected" ] || fail "$name is not the file that was released (its SHA-256 differs): nothing was installed"

tar xzf "$work/$name" -C "$work"
program="$work/hottopixx-$target/hottopixx"
"$program" --version >/dev/null 2>&1 || fail "the program does not run on this machine: build it with cargo install hottopixx-cli"
mkdir -p "$to"
# First beside its place: a program that is running keeps its file.
cp "$program" "$to/.hottopixx.new"
chmod 755 "$to/.hottopixx.new"
mv -f "$to/.hottopixx.new" "$to/hottopixx"
say "installed: $to/hottopixx"
case ":$PATH:" in
    *":$to:"*) say "try: hottopixx demo" ;;
    *) say "$to is not on your PATH: add it, or run $to/hottopixx demo" ;;
esac
