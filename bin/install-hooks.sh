#!/usr/bin/env bash
# Installs the hooks of Headspace in Claude Code, or removes them (--uninstall), without asking: for scripts.
# `headspace install` asks first. Other options: see `headspace install --help`.
set -euo pipefail
unset CDPATH

command=install
arguments=()
for argument in "$@"; do
    if [[ $argument == --uninstall ]]; then
        command=uninstall
    else
        arguments+=("$argument")
    fi
done
script=${BASH_SOURCE[0]}
[[ $script == */* ]] || script=./$script
while [[ -L $script ]]; do
    target=$(readlink "$script")
    [[ $target == /* ]] || target=${script%/*}/$target
    script=$target
done
exec "${script%/*}/headspace" "$command" --yes ${arguments[@]+"${arguments[@]}"}
