# shellcheck shell=bash
# The Python environment of Headspace: <checkout>/.venv, created on first use, updated when the dependencies change.
#
# Sourced by the other scripts, which set $root to the checkout and then call one of
#   ensure_environment runtime    the packages to run Headspace
#   ensure_environment dev        also the packages to test and measure it
#
# It also builds the dashboard (`web/`, with hatch_build.py). Without it everything else works, and the daemon shows why.
#
# Rules
# - bash 3.2 is enough (macOS). Messages go to standard error.
# - Checking an up-to-date environment takes one `cksum` and one `find`, and no Python.
# - One process builds at a time, the others wait. The stamp is written last, so an interrupted build is repeated.
# - The stamp contains the path of the checkout, because an environment cannot be moved or copied.

: "${root:?set root to the checkout before sourcing environment.sh}"
venv=$root/.venv
stamp=$venv/headspace-stamp
install_log=$venv/headspace-install.log
lock=$root/.venv.lock
page_note=$root/src/claude_headspace/surfaces/page/built/build.txt

ensure_environment() {
    environment_is_ready "$1" && page_is_current && return
    take_lock
    environment_is_ready "$1" || build_environment "$1"
    page_is_current || build_page
    release_lock
}

environment_is_ready() {
    [[ -x $venv/bin/python && -x $venv/bin/headspace && -r $stamp ]] || return 1
    local checksum
    checksum=$(dependency_checksum)
    case $(<"$stamp") in
        "dev"$'\n'"$checksum") ;;
        "runtime"$'\n'"$checksum") [[ $1 == runtime ]] ;;
        *) return 1 ;;
    esac
}

dependency_checksum() {
    cksum "$root/pyproject.toml" "$root/constraints.txt"
}

build_environment() {
    local extras=$1 checksum python=
    checksum=$(dependency_checksum) # computed first, so that a change during the build counts
    if [[ -r $stamp && $(<"$stamp") == "dev"$'\n'* ]]; then
        extras=dev # a development environment stays one
    fi
    environment_is_usable || rm -rf "$venv"
    if [[ -d $venv ]]; then
        say "Updating the environment of Headspace…"
    else
        python=$(find_python) || exit 1
        say "Preparing Headspace for the first start (about a minute)…"
    fi
    rm -f "$stamp"
    mkdir -p "$venv" || die "cannot write to $root"
    install_packages "$extras" "$python" >"$install_log" 2>&1 ||
        HEADSPACE_PAGE=skip install_packages "$extras" "$python" >>"$install_log" 2>&1 || report_failed_install
    printf '%s\n%s\n' "$extras" "$checksum" >"$stamp"
}

# Whether a build was attempted since the last change of its sources. A failed build is not repeated before the next one.
page_is_current() {
    [[ -e $page_note && -z $(cd "$root/web" && find index.html package.json tsconfig.json \
        vite.config.ts public src -type f -newer "$page_note" | head -n 1) ]]
}

build_page() {
    say "Building the dashboard (a few seconds)…"
    rm -f "$page_note"
    if [[ $(<"$stamp") == "dev"$'\n'* ]]; then
        "$venv/bin/python" "$root/hatch_build.py" >"$install_log" 2>&1
    else
        install_packages runtime "" >"$install_log" 2>&1
    fi || say "The dashboard could not be built; everything else works. See $install_log, and try again with bin/page."
    [[ -e $page_note ]] || { mkdir -p "${page_note%/*}" && echo "The build failed; see $install_log." >"$page_note"; }
}

# Whether the environment belongs to this checkout and its Python works and is recent. Packages may be missing.
environment_is_usable() {
    [[ ! -e $stamp || $(<"$stamp") == *" $root/pyproject.toml"* ]] && is_recent_python "$venv/bin/python"
}

find_python() {
    local candidate candidates=(python3.13 python3.12 python3.11 python3) without_venv=
    [[ -z ${HEADSPACE_PYTHON:-} ]] || candidates=("$HEADSPACE_PYTHON")
    for candidate in "${candidates[@]}"; do
        is_recent_python "$candidate" || continue
        if "$candidate" -I -c 'import ensurepip, venv' >/dev/null 2>&1; then
            printf '%s\n' "$candidate"
            return
        fi
        without_venv=$candidate
    done
    if [[ -n $without_venv ]]; then
        die "$without_venv cannot create virtual environments: its venv module is not installed." \
            "On Debian and Ubuntu: sudo apt install python3-venv. Then run this again."
    fi
    die "Python 3.11 or newer is required and was not found (tried: ${candidates[*]})." \
        "Install one (https://www.python.org/downloads, brew install python, sudo apt install python3 python3-venv)" \
        "or set HEADSPACE_PYTHON=/path/to/python3. Then run this again."
}

# Runs the candidate, because pyenv puts a python3.12 on the PATH that only prints an error.
is_recent_python() {
    "$1" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

# Runs in a subshell, so that its variables do not reach Headspace. The path of the constraints is relative, because pip
# splits PIP_… variables at spaces. The variables are needed besides -c, because -c does not apply to the package build.
install_packages() (
    cd "$root" || exit 1
    unset PIP_PREFIX PIP_TARGET PIP_USER
    export PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt
    package=.
    [[ $1 == runtime ]] || package=".[$1]"
    if [[ ! -x $venv/bin/python ]] || ! "$venv/bin/python" -I -m pip --version; then
        "${2:-$venv/bin/python}" -I -m venv "$venv" || exit 1
    fi
    "$venv/bin/python" -I -m pip install --disable-pip-version-check --no-input -c constraints.txt -e "$package"
)

report_failed_install() {
    say "headspace: preparing the environment failed. The last lines of $install_log:"
    sed -e '/^ *$/d' -e 's/^/    /' "$install_log" | tail -n 20 >&2 # pip prints a lot after the cause
    die "Check the network and the package index of pip, and run this again." \
        "If that does not help, remove the environment first: rm -rf '$venv'"
}

# The lock is a symbolic link to the pid of its holder. Links are created atomically; macOS has no flock.
take_lock() {
    local holder announced=
    SECONDS=0
    until ln -s "$$" "$lock" 2>/dev/null; do
        holder=$(readlink "$lock") || holder=
        if [[ -z $holder ]]; then
            [[ -w $root ]] || die "cannot write to $root, where its environment (.venv) belongs."
        elif ! is_running "$holder"; then
            break_lock "$holder"
            continue
        elif [[ -z $announced ]]; then
            say "Waiting for another process that prepares Headspace…"
            announced=yes
        fi
        ((SECONDS < 900)) || die "waited 15 minutes for process $holder. If it is not preparing Headspace: rm '$lock'"
        sleep 0.2
    done
    trap release_lock EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

release_lock() {
    rm -f "$lock"
    trap - EXIT INT TERM HUP
}

# Only the holder of a second lock removes the lock of an ended process. Otherwise two waiting processes could remove the
# new lock of a third one.
break_lock() {
    if mkdir "$lock.broken" 2>/dev/null; then
        [[ $(readlink "$lock") != "$1" ]] || rm -f "$lock"
        rmdir "$lock.broken"
    else
        ((SECONDS < 900)) || die "cannot clean up after an interrupted start: rm -r '$lock' '$lock.broken'"
        sleep 0.2
    fi
}

# `kill -0` needs no other program, but also fails for processes of other users. Then ps is used, if it exists.
is_running() {
    kill -0 "$1" 2>/dev/null || ps -p "$1" >/dev/null 2>&1
}

say() {
    printf '%s\n' "$@" >&2
}

die() {
    local problem=$1
    shift
    say "headspace: $problem" "$@"
    exit 1
}
