#!/bin/bash -p
# Claude Code's status line: tells Headspace what the client says of its context and cost, and prints a line. The end of
# this file explains it.
LC_ALL=C IFS='' state=${HEADSPACE_STATE:-${0%/*}/notify-headspace.state}
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

# --- telling, as notify-headspace.sh does ---

fired=''
[[ $BASH_VERSION < 5 ]] || fired=${EPOCHREALTIME/,/.}
file=$state/spool/${fired:-0}-$$-$RANDOM.json
id=$HOSTNAME-$$-$fired-$RANDOM pid=$CLAUDE_PID pane=$TMUX_PANE agent=$CLAUDE_HEADSPACE_SESSION_ID wrapper=$CLAUDE_SESSION_ID
if [[ -d $state/spool && ! -e $state/spool/full && $id$pid$pane$agent$wrapper != *[!A-Za-z0-9%._:/@-]* ]]; then
    printf '%s\n' "{\"event\":\"StatusLine\",\"delivery-id\":\"$id\"${fired:+,\"fired-at\":\"$fired\"}${pid:+,\"client-pid\":\"$pid\"}\
${pane:+,\"tmux-pane\":\"$pane\"}${agent:+,\"session-id\":\"$agent\"}${wrapper:+,\"wrapper-id\":\"$wrapper\"}}" "$flat" \
        >"$file" || { [[ ! -e $file ]] || rm -f "$file"; } # a full disk: half an event is none
fi

# --- the line ---

# One that was there before is shown as it was.
if [[ -z $HEADSPACE_STATUSLINE && -s ${0%.sh}.wrapped ]]; then
    printf '%s' "$payload" | /bin/sh -c "$(<"${0%.sh}.wrapped")"
    exit 0
fi

template=$HEADSPACE_STATUSLINE
[[ -n $template ]] || read -r template <"${0%.sh}.line"
[[ -n $template ]] || template='{model} {context} {cost} {fleet}'

model='' context='' cost='' limit=''
between='[[:space:]]*:[[:space:]]*'
find() { # sets found
    [[ $flat =~ $1 ]] && found=${BASH_REMATCH[1]} || found=''
    return 0
}
find "\"display_name\"$between\"([^\"\\\\]*)\"" && model=$found
find "\"remaining_percentage\"$between([0-9]+)" && context=${found:+ctx $((100 - found))%}
find "\"total_cost_usd\"$between([0-9.]+)" && cost=$found
[[ -z $cost ]] || printf -v cost '$%.2f' "$cost"
find "\"five_hour\"$between\\{[^}]*\"used_percentage\"$between([0-9]+)" && limit=${found:+5h $found%}
fleet=''
read -r fleet <"$state/glance"

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

# Installed by `headspace install --statusline` beside notify-headspace.sh, or run by `headspace statusline`.
#
# What the payload says goes into the spool, from where the daemon takes it. Then a line is printed: that of the status line
# which was there before (statusline-headspace.wrapped holds its command), else one made of words, in which {model},
# {context}, {cost}, {limit} (of five hours) and {fleet} (who waits, from the daemon's file `glance`) stand for what is known;
# statusline-headspace.line or HEADSPACE_STATUSLINE holds it.
#
# Rules
# - It exits with 0 and is done in milliseconds, whether the daemon runs or not.
# - Nothing that comes from the payload is run or expanded. Escapes of JSON are not undone, so no control byte is printed.
