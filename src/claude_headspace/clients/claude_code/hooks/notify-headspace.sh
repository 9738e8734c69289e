#!/bin/bash -p
# Tells Headspace of one hook of Claude Code: notify-headspace.sh EVENT <payload. The end of this file explains it.
LC_ALL=C IFS='' event=$1 old='' state=${0%.sh}.state
exec 2>/dev/null
trap 'exit 0' HUP INT TERM
umask 077

fired=${EPOCHREALTIME/,/.}
if [[ $BASH_VERSION < 5 ]]; then
    fired='' # it has no finer clock than seconds: the time of the file is better
    [[ $BASH_VERSION < 4.1 ]] && old=yes
fi

# Only the first byte has a time limit: with one, bash 5.2 makes two system calls for every byte.
if [[ -z $old ]]; then
    read -r -t 0.9 -N 1 first || exit 0
    read -r -N 67108864 payload
else
    first='' payload=$(cat)
    [[ -n $payload ]] || exit 0
fi

# --- telling: one new file, complete when it ends in a newline ---

id=$HOSTNAME-$$-$fired-$RANDOM pid=${CLAUDE_PID:-$PPID} pane=$TMUX_PANE tmux=$CLAUDE_HEADSPACE_TMUX_SESSION
agent=$CLAUDE_HEADSPACE_SESSION_ID wrapper=$CLAUDE_SESSION_ID fleet=$AGENT_ID above='' asks='' role=''
mode=$CLAUDE_SESSION_MODE mission=$MISSION_EXECUTION_ID

# A session with a role or a mode is given files and told how it stands, so its script asks by itself.
if [[ -n $CLAUDE_SESSION_ROLE$mode && ($event == SessionStart || $event == UserPromptSubmit || $event == Stop) ]]; then
    asks=yes role=$CLAUDE_SESSION_ROLE
fi

# What the client descends from, told once: a short one may be gone before anybody can look.
if [[ $event == SessionStart && -d /proc/$pid ]]; then
    next=$pid
    while read -r line <"/proc/$next/stat" && line=${line##*) } && line=${line#* } && next=${line%% *} &&
        ((next > 1 && ${#above} < 180)); do
        above+="${above:+ }$next"
    done
fi

file=$state/spool/${fired:-0}-$$-$RANDOM.json
tell() {
    printf '%s\n' "{\"event\":\"$event\",\"delivery-id\":\"$id\",\"client-pid\":\"$pid\"${fired:+,\"fired-at\":\"$fired\"}\
${pane:+,\"tmux-pane\":\"$pane\"}${tmux:+,\"tmux-session\":\"$tmux\"}${agent:+,\"session-id\":\"$agent\"}\
${wrapper:+,\"wrapper-id\":\"$wrapper\"}${fleet:+,\"agent-id\":\"$fleet\"}${role:+,\"role\":\"$role\"}${mode:+,\"mode\":\"$mode\"}\
${mission:+,\"mission-id\":\"$mission\"}${above:+,\"ancestor-pids\":\"$above\"}}" "$first$payload" >"$file" && return
    [[ ! -e $file ]] || rm -f "$file" # a full disk: half an event is none
    return 1
}

# Plain values, nobody who wants to answer, room in the spool, and not one of the hooks that look whether there is room.
if [[ $event$id$pid$pane$tmux$agent$wrapper$fleet$role$mode$mission != *[!A-Za-z0-9%._:/@-]* && $event == [A-Za-z]* && $$ != *00 &&
    -z $asks && ! -e $state/asked/$event && ! -e $state/spool/full ]]; then
    tell && exit 0
fi

# --- everything that happens less often ---

set +o posix # where that is set, a refused connection ends a script
shopt -u xpg_echo
trap '' PIPE
payload=$first$payload first=''

if [[ $event != [A-Za-z]* || $event == *[!A-Za-z0-9_-]* ]]; then
    pattern='"hook_event_name"[[:space:]]*:[[:space:]]*"([A-Za-z][A-Za-z0-9_-]*)"'
    event=Unnamed
    [[ ${payload:0:32768} =~ $pattern ]] && event=${BASH_REMATCH[1]}
fi
for name in id pid pane tmux agent wrapper fleet role mode mission; do # without bytes that mean something in JSON or in a header
    value=${!name//[[:cntrl:]\"\\]/}
    printf -v "$name" %s "${value:0:200}"
done

# A spool that nobody empties is closed when it is full; what comes after that is only counted.
tell_or_count() {
    local files
    if [[ $$ == *00 ]]; then
        files=("$state"/spool/*.json)
        ((${#files[@]} < 50000)) || echo -n >"$state/spool/full"
    fi
    if [[ -e $state/spool/full ]]; then
        echo -n . >>"$state/spool/lost"
    else
        tell
    fi
}
if [[ -z $role$mode && ! -e $state/asked/$event ]]; then
    tell_or_count && exit 0
fi

# --- asking, or when nothing could be written ---

# The daemon says where it listens and which process it is. That is believed only while the process is there, so that no
# stranger gets the token. One that did not answer in time is not asked again until it has removed the mark.
connect() {
    local daemon
    IFS=' ' read -r host port daemon <"$state/address"
    [[ -n $host && ! -e $state/silent ]] && kill -0 "$daemon" && exec 3<>"/dev/tcp/$host/$port"
}

# One write, because small ones wait for each other's receipt: bash writes up to the last newline at once if it has written
# before. What a hanging daemon could leave us with half written, another process writes.
send() {
    local line=$'\r\n' token request
    IFS='=' read -r _ token <"${0%.sh}.conf"
    request="POST /hook/$event HTTP/1.1${line}Host: 127.0.0.1:$port${line}Authorization: Bearer $token${line}"
    request+="Content-Type: application/json${line}Content-Length: $((${#payload} + 1))${line}Connection: close${line}"
    request+="X-Headspace-Reply: hook${line}X-Headspace-Delivery-Id: $id${line}X-Headspace-Client-Pid: $pid${line}"
    request+="${fired:+X-Headspace-Fired-At: $fired$line}${pane:+X-Headspace-Tmux-Pane: $pane$line}"
    request+="${tmux:+X-Headspace-Tmux-Session: $tmux$line}${agent:+X-Headspace-Session-Id: $agent$line}"
    request+="${wrapper:+X-Headspace-Wrapper-Id: $wrapper$line}${fleet:+X-Headspace-Agent-Id: $fleet$line}"
    request+="${role:+X-Headspace-Role: $role$line}${mode:+X-Headspace-Mode: $mode$line}"
    request+="${mission:+X-Headspace-Mission-Id: $mission$line}"
    request+="${above:+X-Headspace-Ancestor-Pids: $above$line}"
    request+="$line$payload"
    if [[ -n $old ]]; then
        cat <<<"$request" >&3 &
    elif ((${#request} > 65536)); then
        echo "$request" >&3 &
    else
        echo >/dev/null
        echo -n "$request"$'\n' >&3
    fi
}

# How long the answer may take, so that all of it stays within 2 s, or 1 s; bash 3.2 takes only whole seconds. What a
# person may answer has the time that the daemon gives it.
set_limit() {
    local all=1850000 now=${EPOCHREALTIME//[.,]/}
    read -r held <"$state/asked/$event"
    if [[ -n $held && $held != *[!0-9]* ]]; then
        limit=$held
        return
    fi
    [[ $event != SessionEnd ]] || all=900000
    if [[ -n $fired ]]; then
        all=$((all - (now - ${fired/./})))
        ((all > 10000)) || all=10000
    else
        all=$((all / 2))
    fi
    printf -v limit '%d.%06d' $((all / 1000000)) $((all % 1000000))
    [[ -z $old ]] || limit=1
}

receive() {
    local limit held='' status='' answer='' head pattern='[Cc]ontent-[Ll]ength: *([0-9]+)'
    set_limit
    if [[ -z $old ]]; then read -r -t $limit -N 12 status <&3; else read -r -t $limit status <&3; fi
    case ${status:0:12} in
        'HTTP/1.1 200') ;;
        'HTTP/1.1 204' | 'HTTP/1.1 40'[0459] | 'HTTP/1.1 41'[35]) return 0 ;; # nothing to say; refused for good
        '') [[ -n $held ]] || echo -n >"$state/silent"; return 1 ;;
        *) return 1 ;;
    esac
    if [[ -z $old ]]; then read -r -N 33554432 answer <&3; else read -r -d '' answer <&3; fi
    head=${answer:0:8192}
    head=${head%%$'\r\n\r\n'*}
    answer=${answer:${#head}+4}
    [[ $head =~ $pattern && ${BASH_REMATCH[1]} == "${#answer}" ]] && echo -n "$answer"
    return 0
}

if connect; then
    trap 'tell_or_count; exit 0' HUP INT TERM
    send
    receive && exit 0
    [[ -z $! ]] || kill $!
fi
tell_or_count || { mkdir -p "$state/spool" && tell; }
exit 0

# Installed by `headspace install`, with two things beside it: notify-headspace.state, a link to the state directory of
# Headspace, and notify-headspace.conf, which holds the token for asking. docs/hooks.md has the whole story.
#
# Telling is a new file in the spool, from where the daemon takes it at once, or when it is back. Asking, for the events
# that the daemon wants to answer (it keeps a file in asked/ for each) and for sessions with a role, is one HTTP request;
# what nobody answers in time is told instead. Without EVENT the payload's own hook_event_name counts.
#
# Rules
# - It exits with 0 and writes nothing to stderr, whatever happens; to stdout only an answer that came whole.
# - 2 s in all, 1 s at SessionEnd; longer only for what the daemon holds open for a person.
# - One process; before bash 4.1, as on macOS, with a cat beside it, and on a full disk with an rm.
# - Nothing that comes from outside is run, sourced or expanded.
# - The order is for speed. bash reads no further than it runs: what most hooks do not need stands after what they do, and
#   words stand last. No ${payload%pattern}: with megabytes that takes minutes.
