#!/bin/sh
# Installs csv-agent @VERSION@ on Linux:
#
#   curl -fsSL @URL@/install.sh | sh
#   curl -fsSL @URL@/install.sh | sh -s -- --prefix /usr/local
#
# Puts the program into PREFIX/bin, and man pages and completions into PREFIX/share. The prefix is ~/.local unless
# `--prefix` names another. Changes nothing else. To remove it, delete PREFIX/bin/csv-agent.
set -eu

VERSION='@VERSION@'
# A mirror has the same files: CSV_AGENT_DOWNLOAD_URL=https://mirror.example.com/csv-agent/v@VERSION@
URL="${CSV_AGENT_DOWNLOAD_URL:-@URL@}"

fail() {
    echo "error: $1" >&2
    [ $# -lt 2 ] || echo "  hint: $2" >&2
    exit 1
}

target_of_this_machine() {
    case $(uname -s) in
    Linux) ;;
    *) fail "csv-agent does not run on $(uname -s)" 'on Windows, use WSL 2' ;;
    esac
    case $(ldd --version 2>&1) in
    *musl*) fail 'csv-agent needs the GNU C library, and this system has musl' 'build it from source, or use the image' ;;
    esac
    case $(uname -m) in
    x86_64 | amd64) echo x86_64-unknown-linux-gnu ;;
    aarch64 | arm64) echo aarch64-unknown-linux-gnu ;;
    *) fail "there is no csv-agent for $(uname -m)" 'build it from source: `cargo install --locked --path .` in a clone' ;;
    esac
}

sha256_of() {
    case $1 in
@CHECKSUMS@
    *) fail "this release has no archive for $1" ;;
    esac
}

download() {
    if command -v curl >/dev/null; then
        curl -fsSL "$1" -o "$2"
    elif command -v wget >/dev/null; then
        wget -q "$1" -O "$2"
    else
        fail 'neither curl nor wget is installed'
    fi || fail "cannot download $1" 'check the network, or set HTTPS_PROXY'
}

# A function, so that a script that was cut while it was downloaded does nothing.
main() {
    prefix=${HOME:-}/.local
    while [ $# -gt 0 ]; do
        case $1 in
        --prefix)
            [ $# -ge 2 ] || fail '`--prefix` needs a directory'
            prefix=$2
            shift 2
            ;;
        --prefix=*)
            prefix=${1#--prefix=}
            shift
            ;;
        *) fail "there is no option \`$1\`" 'the only one is `--prefix DIRECTORY`' ;;
        esac
    done
    case $prefix in
    /.local) fail 'HOME is not set' 'name a directory with `--prefix DIRECTORY`' ;;
    esac

    target=$(target_of_this_machine)
    name=csv-agent-$VERSION-$target
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' INT TERM HUP
    echo "Downloading $name" >&2
    download "$URL/$name.tar.gz" "$work/archive"
    expected=$(sha256_of "$target")
    found=$(sha256sum "$work/archive" | cut -d ' ' -f 1)
    [ "$found" = "$expected" ] ||
        fail "the checksum of $name.tar.gz is wrong" "it is $found and must be $expected; download it again"
    tar -xzf "$work/archive" -C "$work"
    program=$work/$name/csv-agent
    "$program" --version >/dev/null || fail 'the program does not run on this system' \
        'it needs version 2.17 or later of the GNU C library; `ldd --version` shows it'

    bin=$prefix/bin
    man=$prefix/share/man/man1
    bash=$prefix/share/bash-completion/completions
    fish=$prefix/share/fish/vendor_completions.d
    zsh=$prefix/share/zsh/site-functions
    mkdir -p "$bin" "$man" "$bash" "$fish" "$zsh" || fail "cannot write to $prefix" 'name another directory with `--prefix`'
    cp "$work/$name/man/"*.1 "$man"
    cp "$work/$name/completions/csv-agent.bash" "$bash/csv-agent"
    cp "$work/$name/completions/csv-agent.fish" "$fish"
    cp "$work/$name/completions/_csv-agent" "$zsh"
    # Renamed at the end, because an older program may be running.
    cp "$program" "$bin/.csv-agent.new"
    mv "$bin/.csv-agent.new" "$bin/csv-agent"
    "$bin/csv-agent" --version
    echo "Installed in $bin" >&2
    case :${PATH:-}: in
    *":$bin:"*) ;;
    *) echo "Add it to the PATH: export PATH=\"$bin:\$PATH\"" >&2 ;;
    esac
}

main "$@"
