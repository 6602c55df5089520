# Sourced by e2e/run and e2e/services/run: what both start from, and `tests FOLDER [pytest arguments]`.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
name=$(basename "$(dirname "$0")")/$(basename "$0")
fail() {
    echo "$name: $*" >&2
    exit 1
}

mkdir -p "$root/e2e/.cache"

# Runs share the folders below .cache: one at a time.
exec 9>"$root/e2e/.cache/lock"
flock --nonblock 9 || { echo "$name: waiting for another run to end" >&2 && flock 9; }

for tool in go git python3; do
    command -v "$tool" >/dev/null || fail "$tool is not installed"
done
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "Python 3.11 or newer is needed, python3 is $(python3 --version)"

# shellcheck source=venv.sh
source "$root/e2e/venv.sh"

if [ -z "${VBOT:-}" ]; then
    VBOT=$cache/vbot
    # As release/dist builds it.
    (cd "$root" && CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags='-s -w' -o "$VBOT" .) || fail "vbot does not build"
fi
export VBOT

# Options of pytest. What measures time, or holds a conversation in real time, can miss a deadline on a
# busy machine: in the nightly tier it runs again, alone, at most twice, and the summary says so (RERUN).
# shellcheck disable=SC2034
two_workers=(-n 2 --dist loadfile)
# shellcheck disable=SC2034
reruns=(--reruns 2 --reruns-delay 10)

tests() {
    cd "$root/$1" || exit
    shift
    # Whoever is not root may be allowed to be root in a user namespace, which is enough to cut a
    # conversation off from the network (see network.py).
    local enter=()
    if [ "$(id -u)" != 0 ] && unshare --map-root-user --net --mount true 2>/dev/null; then
        enter=(unshare --map-root-user)
    fi
    exec "${enter[@]}" "$cache/venv/bin/python" -B -m pytest "$@"
}
