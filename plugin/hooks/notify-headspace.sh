#!/bin/bash -p
# Headspace's hooks as a plugin: forwards one event to the Headspace of this machine. Explained at the end of this file.
exec 2>/dev/null

if [[ ! -e ${CLAUDE_CONFIG_DIR:-$HOME/.claude}/hooks/notify-headspace.installed ]]; then
    for state in "${HEADSPACE_HOME:-/nowhere}" "${XDG_STATE_HOME:-$HOME/.local/state}/headspace" \
        "$HOME/Library/Application Support/headspace"; do
        [[ -x $state/hooks/notify-headspace.sh ]] && exec "$state/hooks/notify-headspace.sh" "$1"
    done
fi
read -r -t 1 -N 33554432 _ # so that the client does not write to a closed pipe
exit 0

# The daemon installs the hook script in its state directory, with the files that the script needs. So its version is that of
# the installed Headspace, whatever version the plugin has. If there is no Headspace, or if the settings have its hooks already
# (`headspace install`), this script does nothing, so that no event is reported twice.
