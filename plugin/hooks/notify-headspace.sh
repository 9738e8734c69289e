#!/bin/bash -p
# Headspace's hooks as a plugin: hands one event to the Headspace of this machine. The end of this file explains it.
exec 2>/dev/null

if [[ ! -e ${CLAUDE_CONFIG_DIR:-$HOME/.claude}/hooks/notify-headspace.installed ]]; then
    for state in "${HEADSPACE_HOME:-/nowhere}" "${XDG_STATE_HOME:-$HOME/.local/state}/headspace" \
        "$HOME/Library/Application Support/headspace"; do
        [[ -x $state/hooks/notify-headspace.sh ]] && exec "$state/hooks/notify-headspace.sh" "$1"
    done
fi
read -r -t 1 -N 33554432 _ # the client finds somebody who listens
exit 0

# The script that it hands over to is put there by the daemon, with what it needs to find it and to ask it; it is of the
# version that is installed here, whatever version the plugin has. Where there is no Headspace, or where the settings have
# its hooks already (`headspace install`), this one says and does nothing: no event is told twice.
