#!/usr/bin/env bash
# Lets Claude Code report to Headspace; with --uninstall, no longer. All other options are those of `headspace install`.
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
exec "${script%/*}/headspace" "$command" ${arguments[@]+"${arguments[@]}"}
