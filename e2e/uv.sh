# Sourced by the scripts beside it: uv on PATH, installed below .cache where there is none.
# shellcheck shell=bash

if ! command -v uv >/dev/null; then
    uv_home=$(dirname "${BASH_SOURCE[0]}")/.cache/uv
    uv_home=$(mkdir -p "$uv_home" && cd "$uv_home" && pwd)
    if [ ! -x "$uv_home/bin/uv" ]; then
        # Debian keeps what a virtual environment needs in a package of its own.
        python3 -m venv --clear "$uv_home" || {
            echo "e2e: python3 cannot make a virtual environment: apt-get install python3-venv" >&2
            exit 1
        }
        "$uv_home/bin/pip" install --quiet --disable-pip-version-check uv==0.13.9 || {
            echo "e2e: uv could not be installed" >&2
            exit 1
        }
    fi
    PATH=$PATH:$uv_home/bin
fi
# A user's own Python is what counts: uv is to use it, and not to fetch another one.
export UV_PYTHON_DOWNLOADS=never
