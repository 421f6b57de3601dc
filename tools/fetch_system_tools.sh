#!/usr/bin/env bash
# Unpacks the Debian programs that the connected tests use into .tools/, without installing or starting
# anything: no root needed, and no service is left running. Where a program is on the PATH already,
# or this is not Debian, nothing is done; the tests then say which program they miss.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p .tools

unpack() { # PROGRAM PACKAGE
    if command -v "$1" >/dev/null || [ -x ".tools/usr/bin/$1" ]; then return; fi
    if ! command -v apt-get >/dev/null; then
        echo "fetch_system_tools: $1 is missing and this is no Debian; install $2 by hand" >&2
        return
    fi
    local folder
    folder=$(mktemp -d)
    if (cd "$folder" && { download "$2" || { apt-get update -qq && download "$2"; }; }) >&2; then
        dpkg -x "$folder"/*.deb .tools
    else
        echo "fetch_system_tools: $2 cannot be downloaded (run apt-get update as root once?)" >&2
    fi
    rm -rf "$folder"
}

download() { # PACKAGE, into the current folder; the option spares root a warning
    apt-get download -qq -o APT::Sandbox::User=root "$1"
}

unpack promtool prometheus
unpack prometheus prometheus
