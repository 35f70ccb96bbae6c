#!/usr/bin/env bash
# Makes a headless browser available for the page tests: installs Debian's chromium where that is
# possible (as root, with apt-get) and needed. Quiet, and never fails its caller: without a browser
# those tests skip and say so.
command -v chromium >/dev/null && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "No chromium here; the tests that open pages in a browser will be skipped." >&2
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
{ apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } >/dev/null 2>&1 ||
    echo "chromium could not be installed; the tests that open pages will be skipped." >&2
exit 0
