#!/bin/bash -p
# Sends one hook of a client to Headspace: notify-headspace.sh EVENT [CLIENT] <payload. Explained at the end of this file.
LC_ALL=C IFS='' TMOUT='' event=$1 client=${2:-claude-code} old_bash='' state=${0%.sh}.state
exec 2>/dev/null
trap 'exit 0' HUP INT TERM
umask 077

fired=${EPOCHREALTIME/,/.}
if [[ $BASH_VERSION < 5 ]]; then
    fired='' # this bash has no clock finer than seconds: the modification time of the file is better
    [[ $BASH_VERSION < 4.1 ]] && old_bash=yes
fi

# Only the first byte has a time limit: with one, bash 5.2 makes two system calls for every byte.
if [[ -z $old_bash ]]; then
    read -r -t 0.9 -N 1 first || exit 0
    read -r -N 67108864 payload
else
    first='' payload=$(cat)
    [[ -n $payload ]] || exit 0
fi

# --- report: one new file, complete when it ends with a newline ---

delivery_id=$HOSTNAME-$$-$fired-$RANDOM pid=$PPID pane=$TMUX_PANE tmux=$CLAUDE_HEADSPACE_TMUX_SESSION
headspace_id=$CLAUDE_HEADSPACE_SESSION_ID wrapper_id=$CLAUDE_SESSION_ID fleet_id=$AGENT_ID ancestors='' must_ask=''
role=$CLAUDE_SESSION_ROLE mode=$CLAUDE_SESSION_MODE mission_id=$MISSION_EXECUTION_ID

# Copilot also runs the hooks that a project has for Claude Code. If one of the two runs inside the other, the nearer one
# among the ancestors of this process runs this hook.
nearer_client() {
    local next=$PPID line
    while [[ $next != *[!0-9]* && $next != [01] && -n $next ]]; do
        [[ $next == "$CLAUDE_PID" ]] && return
        [[ $next == "$COPILOT_LOADER_PID" ]] && { client=copilot; return; }
        read -r line <"/proc/$next/stat" || break
        line=${line##*) } line=${line#* } next=${line%% *}
    done
    [[ -n $CLAUDE_PID ]] || client=copilot
}
[[ $client != claude-code || -z $COPILOT_CLI ]] || nearer_client
case $client in
    claude-code) pid=${CLAUDE_PID:-$PPID} asked=$state/asked/ ;;
    copilot) pid=${COPILOT_LOADER_PID:-$PPID} asked=$state/asked/$client. ;;
    *) asked=$state/asked/$client. ;;
esac
[[ $pid != *[!0-9]* ]] || pid=$PPID

# A session with a role or a mode gets context files and notices in the reply, so its script always asks.
if [[ -n $role$mode && ($event == SessionStart || $event == UserPromptSubmit || $event == Stop) ]]; then
    must_ask=yes
fi

# The ancestors of the client, sent once: a short-lived client may exit before the daemon can look them up.
if [[ $event == SessionStart && -d /proc/$pid ]]; then
    next=$pid
    while read -r line <"/proc/$next/stat" && line=${line##*) } && line=${line#* } && next=${line%% *} &&
        [[ $next != *[!0-9]* && $next != [01] && -n $next && ${#ancestors} -lt 180 ]]; do
        ancestors+="${ancestors:+ }$next"
    done
fi

file=$state/spool/${fired:-0}-$$-$RANDOM.json
report() {
    printf '%s\n' "{\"event\":\"$event\",\"delivery-id\":\"$delivery_id\",\"client-pid\":\"$pid\"\
${fired:+,\"fired-at\":\"$fired\"},\"client\":\"$client\"${pane:+,\"tmux-pane\":\"$pane\"}${tmux:+,\"tmux-session\":\"$tmux\"}\
${headspace_id:+,\"session-id\":\"$headspace_id\"}${wrapper_id:+,\"wrapper-id\":\"$wrapper_id\"}\
${fleet_id:+,\"agent-id\":\"$fleet_id\"}${role:+,\"role\":\"$role\"}${mode:+,\"mode\":\"$mode\"}\
${mission_id:+,\"mission-id\":\"$mission_id\"}${ancestors:+,\"ancestor-pids\":\"$ancestors\"}}" \
        "$first$payload" >"$file" && return
    [[ ! -e $file ]] || rm -f "$file" # the disk is full: remove the partial file
    return 1
}

# The fast path: plain values, no reply expected, the spool is not full, and this is not one of the hooks that count its files.
if [[ $event$client$delivery_id$pid$pane$tmux$headspace_id$wrapper_id$fleet_id$role$mode$mission_id != *[!A-Za-z0-9%._:/@-]* &&
    $event == [A-Za-z]* && $$ != *00 && -z $must_ask && ! -e $asked$event && ! -e $state/spool/full ]]; then
    report && exit 0
fi

# --- the slow path ---

set +o posix # in posix mode a refused connection ends the script
shopt -u xpg_echo
trap '' PIPE
payload=$first$payload first=''

if [[ $event != [A-Za-z]* || $event == *[!A-Za-z0-9_-]* ]]; then
    pattern='"hook_event_name"[[:space:]]*:[[:space:]]*"([A-Za-z][A-Za-z0-9_-]*)"'
    event=Unnamed
    [[ ${payload:0:32768} =~ $pattern ]] && event=${BASH_REMATCH[1]}
fi
# Remove bytes that are not allowed in JSON or in headers.
for name in client delivery_id pid pane tmux headspace_id wrapper_id fleet_id role mode mission_id; do
    value=${!name//[[:cntrl:]\"\\]/}
    printf -v "$name" %s "${value:0:200}"
done

# If nothing empties the spool, it is marked as full. Further events are dropped and counted.
report_or_count() {
    local files
    if [[ $$ == *00 ]]; then
        files=("$state"/spool/*.json)
        ((${#files[@]} < 50000)) || echo -n >"$state/spool/full"
    fi
    if [[ -e $state/spool/full ]]; then
        echo -n . >>"$state/spool/lost"
    else
        report
    fi
}
if [[ -z $must_ask && ! -e $asked$event ]]; then
    report_or_count && exit 0
fi

# --- ask, also if the spool is not writable ---

# The daemon advertises its address and pid. The address is used only while that process runs, so that no other program gets
# the token. A daemon that did not reply in time is marked as silent, and is not asked until it removes the mark.
connect() {
    local daemon
    [[ -f $state/address && ! -f $state/silent ]] && IFS=' ' read -r host port daemon <"$state/address" &&
        [[ -n $host ]] && kill -0 "$daemon" && exec 3<>"/dev/tcp/$host/$port"
}

# The request is one write, because several small ones are delayed by the TCP stack. bash writes everything up to the last
# newline at once if it has written before. A large request is written by another process, because a daemon that hangs would
# block the write.
send() {
    local line=$'\r\n' token request
    [[ -f ${0%.sh}.conf ]] && IFS='=' read -r _ token <"${0%.sh}.conf"
    request="POST /hook/$event HTTP/1.1${line}Host: 127.0.0.1:$port${line}Authorization: Bearer $token${line}"
    request+="Content-Type: application/json${line}Content-Length: $((${#payload} + 1))${line}Connection: close${line}"
    request+="X-Headspace-Reply: hook${line}X-Headspace-Delivery-Id: $delivery_id${line}X-Headspace-Client-Pid: $pid${line}"
    request+="X-Headspace-Client: $client${line}"
    request+="${fired:+X-Headspace-Fired-At: $fired$line}${pane:+X-Headspace-Tmux-Pane: $pane$line}"
    request+="${tmux:+X-Headspace-Tmux-Session: $tmux$line}${headspace_id:+X-Headspace-Session-Id: $headspace_id$line}"
    request+="${wrapper_id:+X-Headspace-Wrapper-Id: $wrapper_id$line}${fleet_id:+X-Headspace-Agent-Id: $fleet_id$line}"
    request+="${role:+X-Headspace-Role: $role$line}${mode:+X-Headspace-Mode: $mode$line}"
    request+="${mission_id:+X-Headspace-Mission-Id: $mission_id$line}"
    request+="${ancestors:+X-Headspace-Ancestor-Pids: $ancestors$line}"
    request+="$line$payload"
    if [[ -n $old_bash ]]; then
        cat <<<"$request" >&3 &
    elif ((${#request} > 65536)); then
        echo "$request" >&3 &
    else
        echo >/dev/null
        echo -n "$request"$'\n' >&3
    fi
}

# The time limit for the reply: 2 s in total, 1 s at SessionEnd. bash 3.2 accepts only whole seconds. For hooks that a person
# may answer, the daemon sets the limit.
set_limit() {
    local all=1850000 now=${EPOCHREALTIME//[.,]/}
    [[ -f $asked$event ]] && read -r held <"$asked$event"
    if [[ $held == [1-9]* && $held != *[!0-9]* && ${#held} -lt 6 ]]; then
        limit=$held
        return
    fi
    held=''
    [[ $event != SessionEnd ]] || all=900000
    if [[ -n $fired ]]; then
        all=$((all - (now - ${fired/./})))
        ((all > 10000)) || all=10000
    else
        all=$((all / 2))
    fi
    printf -v limit '%d.%06d' $((all / 1000000)) $((all % 1000000))
    [[ -z $old_bash ]] || limit=1
}

receive() {
    local limit held='' status='' answer='' head pattern='[Cc]ontent-[Ll]ength: *([0-9]+)'
    set_limit
    if [[ -z $old_bash ]]; then read -r -t "$limit" -N 12 status <&3; else read -r -t "$limit" status <&3; fi
    case ${status:0:12} in
        'HTTP/1.1 200') ;;
        'HTTP/1.1 204' | 'HTTP/1.1 40'[0459] | 'HTTP/1.1 41'[35]) return 0 ;; # an empty reply; refused permanently
        '') [[ -n $held ]] || echo -n >"$state/silent"; return 1 ;;
        *) return 1 ;;
    esac
    if [[ -z $old_bash ]]; then read -r -N 33554432 answer <&3; else read -r -d '' answer <&3; fi
    head=${answer:0:8192}
    head=${head%%$'\r\n\r\n'*}
    answer=${answer:${#head}+4}
    [[ $head =~ $pattern && ${BASH_REMATCH[1]} == "${#answer}" ]] && echo -n "$answer"
    return 0
}

if connect; then
    trap 'report_or_count; exit 0' HUP INT TERM
    send
    receive && exit 0
    [[ -z $! ]] || kill "$!"
fi
report_or_count || { mkdir -p "$state/spool" && report; }
exit 0

# Installed by `headspace install`, together with notify-headspace.state, a link to the state directory of Headspace, and
# notify-headspace.conf, which has the token for requests. docs/hooks.md describes the installation.
#
# A hook reports or asks. To report, it writes a file into the spool, which the daemon reads at once or when it starts. To ask,
# it sends an HTTP request and prints the reply: for events that the daemon wants to answer (each has a file in asked/) and for
# sessions with a role. Without a reply in time the event is reported instead. Without EVENT, hook_event_name in the payload
# names the event. CLIENT is the client for which the hook is registered; without it, Claude Code.
#
# Rules
# - Exits with 0 and writes nothing to stderr, whatever happens. Writes only complete replies to stdout.
# - Takes at most 2 s, or 1 s at SessionEnd; longer only for hooks that the daemon holds for a person.
# - One process. Before bash 4.1, as on macOS, also a cat; on a full disk also an rm.
# - Runs, sources or expands nothing that comes from outside. Arithmetic evaluates names and subscripts in its operands, so
#   only lengths, digits and the clock are used in it. Only regular files are read: a pipe would block.
# - Ordered for speed. bash reads a script as it runs it, so rare parts come after common ones, and this text is last. No
#   ${payload%pattern}: with megabytes that takes minutes.
