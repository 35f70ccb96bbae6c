#!/usr/bin/env bash
# Makes what tests run beside Python available: a headless browser for the page tests, Node for the
# collector's JavaScript client, PostgreSQL for its database. Installs Debian's packages where that
# is possible (as root, with apt-get) and needed. Quiet, and never fails its caller: without them
# those tests skip and say so.
wanted=""
command -v chromium >/dev/null || wanted="$wanted chromium"
command -v node >/dev/null || wanted="$wanted nodejs"
command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || wanted="$wanted postgresql"
[ -z "$wanted" ] && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "Not here:$wanted; the tests that need them will be skipped." >&2
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
# One by one: what cannot be had must not keep the others away.
apt-get update -qq >/dev/null 2>&1
for package in $wanted; do
    apt-get install -y -qq --no-install-recommends "$package" >/dev/null 2>&1 ||
        echo "$package could not be installed; the tests that need it will be skipped." >&2
done
exit 0
