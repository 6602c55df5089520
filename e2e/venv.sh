# Sourced by the scripts beside it: the packages of requirements.txt, in .cache/venv.
# shellcheck shell=bash

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=$here/.cache
# shellcheck source=uv.sh
source "$here/uv.sh"
# No byte code beside the catalog's files, which are sources.
export PYTHONDONTWRITEBYTECODE=1
# Where uv keeps the packages of whoever runs this: bots run with another home.
UV_CACHE_DIR=${UV_CACHE_DIR:-$(uv cache dir)}
export UV_CACHE_DIR
if [ ! -x "$cache/venv/bin/python" ]; then
    uv venv --quiet --clear --python "$(command -v python3)" "$cache/venv" || {
        echo "e2e: the environment of the checks could not be made" >&2
        exit 1
    }
fi
uv pip sync --quiet --require-hashes --python "$cache/venv/bin/python" "$here/requirements.txt" || {
    echo "e2e: what the checks need could not be installed" >&2
    exit 1
}
