#!/bin/bash -p
# The status line of Claude Code: reports context usage and cost to Headspace, and prints a line. Explained at the end.
LC_ALL=C IFS='' TMOUT='' state=${HEADSPACE_STATE:-${0%/*}/notify-headspace.state}
exec 2>/dev/null
umask 077

first='' payload=''
if [[ $BASH_VERSION < 4.1 ]]; then
    payload=$(cat)
else
    read -r -t 2 -N 1 first && read -r -N 8388608 payload
fi
payload=$first$payload
[[ $payload == *'"session_id"'* ]] || exit 0
flat=${payload//$'\n'/ }

# --- report, like notify-headspace.sh ---

fired=''
[[ $BASH_VERSION < 5 ]] || fired=${EPOCHREALTIME/,/.}
file=$state/spool/${fired:-0}-$$-$RANDOM.json
delivery_id=$HOSTNAME-$$-$fired-$RANDOM pid=$CLAUDE_PID pane=$TMUX_PANE
headspace_id=$CLAUDE_HEADSPACE_SESSION_ID wrapper_id=$CLAUDE_SESSION_ID
if [[ -d $state/spool && ! -e $state/spool/full && $delivery_id$pid$pane$headspace_id$wrapper_id != *[!A-Za-z0-9%._:/@-]* ]]; then
    printf '%s\n' "{\"event\":\"StatusLine\",\"delivery-id\":\"$delivery_id\"${fired:+,\"fired-at\":\"$fired\"}\
${pid:+,\"client-pid\":\"$pid\"}${pane:+,\"tmux-pane\":\"$pane\"}${headspace_id:+,\"session-id\":\"$headspace_id\"}\
${wrapper_id:+,\"wrapper-id\":\"$wrapper_id\"}}" "$flat" \
        >"$file" || { [[ ! -e $file ]] || rm -f "$file"; } # the disk is full: remove the partial file
fi

# --- print the line ---

# A previous status line is still shown.
if [[ -z $HEADSPACE_STATUSLINE && -s ${0%.sh}.wrapped ]]; then
    printf '%s' "$payload" | /bin/sh -c "$(<"${0%.sh}.wrapped")"
    exit 0
fi

template=$HEADSPACE_STATUSLINE
[[ -n $template ]] || read -r template <"${0%.sh}.line"
[[ -n $template ]] || template='{model} {context} {cost} {fleet}'

model='' context='' cost='' limit=''
colon='[[:space:]]*:[[:space:]]*'
find() { # the first group of a pattern, in `found`
    [[ $flat =~ $1 ]] && found=${BASH_REMATCH[1]} || found=''
    return 0
}
find "\"display_name\"$colon\"([^\"\\\\]*)\"" && model=$found
find "\"remaining_percentage\"$colon([0-9]+)" && context=${found:+ctx $((100 - 10#${found:0:3}))%}
find "\"total_cost_usd\"$colon([0-9.]+)" && cost=$found
[[ -z $cost ]] || printf -v cost '$%.2f' "$cost"
find "\"five_hour\"$colon\\{[^}]*\"used_percentage\"$colon([0-9]+)" && limit=${found:+5h $found%}
fleet=''
IFS=" " read -r _ _ daemon <"$state/address" && kill -0 "$daemon" && read -r fleet <"$state/glance" # not of a killed daemon

line='' IFS=' '
set -f
for word in $template; do
    case $word in
        '{model}') word=$model ;;
        '{context}') word=$context ;;
        '{cost}') word=$cost ;;
        '{limit}') word=$limit ;;
        '{fleet}') word=$fleet ;;
    esac
    line+=${word:+${line:+  }$word}
done
printf '%s\n' "$line"
exit 0

# Installed by `headspace install --statusline` next to notify-headspace.sh, or run by `headspace statusline`.
#
# The payload is written into the spool, which the daemon reads. Then a line is printed: that of the previous status line, if
# there was one (statusline-headspace.wrapped has its command), otherwise a template with the placeholders {model}, {context},
# {cost}, {limit} (of five hours) and {fleet} (the board in one line, from the status file `glance`). The template is
# HEADSPACE_STATUSLINE, or the content of statusline-headspace.line.
#
# Rules
# - Exits with 0 within milliseconds, whether the daemon runs or not.
# - Runs or expands nothing from the payload. JSON escapes are not decoded, so no control byte is printed.
