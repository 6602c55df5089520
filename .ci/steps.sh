# Sourced by run, nightly and release: runs steps, in a clone if they need one, and prints their times.
# shellcheck shell=bash

export CI=true
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The checkout may belong to another user, which git refuses by default.
export GIT_CONFIG_GLOBAL=$scratch/gitconfig
printf '[include]\n\tpath = ~/.gitconfig\n[safe]\n\tdirectory = *\n' >"$GIT_CONFIG_GLOBAL"

steps=()

# step COMMAND...: run it, and note how long it took and how it ended.
step() {
    printf '\n== %s\n' "$*"
    local start=$SECONDS code=0
    "$@" || code=$?
    printf '== %s: %d s, exit code %d\n' "$*" $((SECONDS - start)) "$code"
    steps+=("$(printf '%6d s  %s  %s' $((SECONDS - start)) "$([ "$code" = 0 ] && echo 'ok    ' || echo FAILED)" "$*")")
    return "$code"
}

report_steps() {
    printf '\n== %d s in all\n' "$SECONDS"
    printf '%s\n' "${steps[@]}"
}

# in_clone COMMAND...: run it in a clone of HEAD, because releases are built from a commit. Without a git
# history, run it in a copy with a commit of its own.
in_clone() {
    local clone=$scratch/clone
    if [ ! -d "$clone" ]; then
        if git rev-parse --verify --quiet HEAD &>/dev/null; then
            git clone --quiet . "$clone"
        else
            cp -R . "$clone"
            git -C "$clone" init --quiet
            git -C "$clone" add --all
            git -C "$clone" -c user.name=ci -c user.email=ci@localhost commit --quiet --message 'What was checked out'
        fi
    fi
    (cd "$clone" && "$@")
}
