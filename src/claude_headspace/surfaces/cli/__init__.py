"""The command line: a table of commands. `main` adds those that need the daemon or the journal themselves.

Modules of this package import what they need inside the command that needs it, so that every command starts fast. What
is printed is made in `presentation`, purely, and leaves through `terminal` alone.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple

import typer

from claude_headspace.surfaces.cli import (
    agents,
    answers,
    doctor,
    fleet,
    hook,
    install,
    policy,
    rpc,
    search,
    status_lines,
    tokens,
    top,
    up,
)
from claude_headspace.surfaces.cli import config as setup
from claude_headspace.surfaces.cli import control as acting
from claude_headspace.surfaces.cli import efforts as effort
from claude_headspace.surfaces.cli import follow as following
from claude_headspace.surfaces.cli import imports as history
from claude_headspace.surfaces.cli import missions as mission
from claude_headspace.surfaces.cli import note as notes
from claude_headspace.surfaces.cli import notifications as notify
from claude_headspace.surfaces.cli import open as page
from claude_headspace.surfaces.cli import replay as past
from claude_headspace.surfaces.cli import roles as role
from claude_headspace.surfaces.cli import run as launch
from claude_headspace.surfaces.cli import status as daemon


class Entry(NamedTuple):
    """A command: its name, what runs, and examples that one could type."""

    name: str
    run: Callable[..., None]
    examples: Sequence[str] = ()
    passes_on: bool = False
    """Whether what it does not know is meant for the program that it starts."""


COMMANDS = (
    Entry("up", up.up, ("headspace up", "headspace up --yes --no-open", "headspace up --service")),
    Entry(
        "list",
        agents.list_agents,
        ("headspace list", "headspace list --state waiting", "headspace list --json | jq -r '.[].name'"),
    ),
    Entry("show", agents.show, ("headspace show calm-otter", "headspace show calm-otter --json | jq .waits")),
    Entry("why", agents.why, ("headspace why calm-otter", "headspace why calm-otter --last 100")),
    Entry(
        "tail",
        following.tail,
        ("headspace tail", "headspace tail calm-otter", "headspace tail --types wait_opened,wait_closed --json"),
    ),
    Entry("top", top.top, ("headspace top", "headspace top --theme terminal")),
    Entry(
        "run",
        launch.run,
        (
            "headspace run",
            "headspace run --name login-fix --model opus",
            'headspace run -d "Fix the flaky test"',
            'headspace run --supervise --prompt "Fix the flaky test"',
        ),
        passes_on=True,
    ),
    Entry(
        "resume",
        launch.resume,
        ("headspace resume calm-otter", 'headspace resume calm-otter "Go on."'),
        passes_on=True,
    ),
    Entry("jump", acting.jump, ("headspace jump calm-otter",)),
    Entry(
        "send",
        acting.send,
        ('headspace send calm-otter "Run the tests again."', "git diff | headspace send calm-otter -"),
    ),
    Entry("interrupt", acting.interrupt, ("headspace interrupt calm-otter",)),
    Entry(
        "approve",
        answers.approve,
        ("headspace approve calm-otter", "headspace approve calm-otter --always"),
    ),
    Entry("deny", answers.deny, ("headspace deny calm-otter", 'headspace deny calm-otter -m "use the test database"')),
    Entry(
        "answer",
        answers.answer,
        (
            "headspace answer calm-otter 2",
            'headspace answer calm-otter "SQLite" "unit, browser"',
            "headspace answer calm-otter --field board=7 --field urgent=yes",
        ),
    ),
    Entry(
        "report",
        mission.report,
        ('headspace report "Fixed: the cache was stale."', 'headspace report --failed "The server is away."'),
    ),
    Entry(
        "search",
        search.search,
        ("headspace search expired cards", "headspace search '\"rate limit\"' --tool Bash --since 2d"),
    ),
    Entry(
        "replay",
        past.replay,
        (
            "headspace replay calm-otter",
            "headspace replay calm-otter --at 14:30",
            "headspace replay calm-otter --at 2h",
        ),
    ),
    Entry(
        "note",
        notes.note,
        (
            'headspace note "fixing the login"',
            'headspace note --agent calm-otter "waits for Anna"',
            "headspace note --clear",
        ),
    ),
    Entry("rename", agents.rename, ("headspace rename calm-otter login-fix",)),
    Entry("open", page.open_page, ("headspace open", "headspace open --print")),
    Entry("status", daemon.status, ("headspace status", "headspace status --json | jq .running")),
    Entry("down", up.down, ("headspace down", "headspace down --service")),
    Entry(
        "logs",
        following.logs,
        ("headspace logs --follow", "headspace logs --last 500 --json | jq 'select(.level == \"error\")'"),
    ),
    Entry(
        "install",
        install.install,
        ("headspace install", "headspace install --dry-run", "headspace install --yes -c ~/.claude -c ~/.claude-team"),
    ),
    Entry("uninstall", install.uninstall, ("headspace uninstall", "headspace uninstall --yes -c ~/.claude-team")),
    Entry(
        "doctor",
        doctor.doctor,
        ("headspace doctor", "headspace doctor --json | jq '.places[].checks[] | select(.status != \"ok\")'"),
    ),
    Entry("fleet", fleet.fleet, ("headspace fleet", "headspace fleet --json | jq .status")),
    Entry(
        "rpc",
        rpc.rpc,
        (
            "headspace rpc ping",
            "headspace rpc effort.list '{\"all\": true}'",
            "headspace rpc hooks.stop - <a.json",
        ),
    ),
    Entry(
        "statusline",
        status_lines.statusline,
        ("headspace statusline <payload.json", "headspace install --statusline    (the faster way)"),
    ),
    Entry("tmux", status_lines.tmux, ("headspace tmux >>~/.tmux.conf", "headspace tmux --key b")),
    Entry("hook", hook.hook, ("headspace hook session-start <payload.json",)),
    Entry(
        "import",
        history.import_history,
        ("headspace import --dry-run", "headspace import", "headspace import calm-otter.jsonl"),
    ),
    Entry(
        "export", past.export, ("headspace export calm-otter -o calm-otter.jsonl", "headspace export calm-otter | jq")
    ),
    Entry("config", setup.config, ("headspace config", "headspace config --json | jq .settings.port.value")),
)

EFFORT_COMMANDS = (
    Entry(
        "start",
        effort.start,
        (
            "headspace effort start brainstorm --title 'Faster checkout'",
            "headspace effort start fix --metadata '{\"heartbeat_limit\": 20}'",
        ),
    ),
    Entry("list", effort.list_efforts, ("headspace effort list --all",)),
    Entry("show", effort.show, ("headspace effort show", "headspace effort show --json | jq .messages")),
    Entry("open", effort.open_session, ("headspace effort open",)),
    Entry("phase", effort.phase, ("headspace effort phase testing",)),
    Entry("log", effort.log, ("headspace effort log 'The cache was stale; fixed in load().'",)),
    Entry("set", effort.configure, ('headspace effort set \'{"gates": {"directives": ["AGENTS.md"]}}\'',)),
    Entry("inject", effort.inject, ("headspace effort inject 'The API changed: see docs/api.md'",)),
    Entry("dehydrate", effort.dehydrate, ("headspace effort dehydrate 'Done: … Next: …' --file src/load.py",)),
    Entry("finish", effort.finish, ("headspace effort finish 'Released.'",)),
)

POLICY_COMMANDS = (
    Entry(
        "explain",
        policy.explain,
        (
            "headspace policy explain 'cd / && rm -rf *'",
            "headspace policy explain .env --tool Write",
            "headspace policy explain 'sudo ls' --preset strict --json | jq .verdict",
        ),
    ),
    Entry("check", policy.check, ("headspace policy check", "headspace policy check draft.toml")),
    Entry(
        "test", policy.try_out, ("headspace policy test cases.toml", "headspace policy test cases.toml -f draft.toml")
    ),
    Entry(
        "backtest",
        policy.backtest,
        ("headspace policy backtest", "headspace policy backtest --preset strict --last 10000"),
    ),
)

ROLE_COMMANDS = (
    Entry("list", role.list_roles, ("headspace role list",)),
    Entry(
        "show",
        role.show,
        ("headspace role show chief", "headspace role show chief --mode background", "headspace role show --json"),
    ),
    Entry("check", role.check, ("headspace role check", "headspace role check && headspace run --role chief")),
)


NOTIFY_COMMANDS = (
    Entry("list", notify.list_notices, ("headspace notify list", "headspace notify list --json | jq .held")),
    Entry("rules", notify.rules, ("headspace notify rules",)),
    Entry("test", notify.try_out, ("headspace notify test", "headspace notify test phone")),
)


MISSION_COMMANDS = (
    Entry(
        "start",
        mission.start,
        (
            'headspace mission start "Find out why the nightly build is slow."',
            'headspace mission start -b "Update the changelog." -- --permission-mode acceptEdits',
            'headspace mission start --for calm-otter "Review the open pull requests."',
        ),
        passes_on=True,
    ),
    Entry(
        "list", mission.list_missions, ("headspace mission list", "headspace mission list --all --json | jq '.[].goal'")
    ),
    Entry("show", mission.show, ("headspace mission show 3f2a91c4", "headspace mission show brave-wren --json")),
    Entry(
        "finish",
        mission.finish,
        ("headspace mission finish 3f2a91c4", 'headspace mission finish brave-wren "Not needed." -o abandoned'),
    ),
)


def build(first: Sequence[Entry] = ()) -> typer.Typer:
    """The application, with further commands before those of the table."""
    app = group("Mission control for Claude Code: what every agent is doing, who waits for whom, live.")
    app.callback(
        epilog=_lines(
            "First steps:",
            "headspace demo    (a team at work, nothing of yours is touched)",
            "headspace up      (your own sessions)",
        )
    )(_options)
    add(app, (*first, *COMMANDS))
    efforts = group("Make an effort: work that outlives sessions.")
    add(efforts, EFFORT_COMMANDS)
    app.add_typer(efforts, name="effort")
    missions = group("Send agents off to work by themselves, and see what came of it.")
    add(missions, MISSION_COMMANDS)
    app.add_typer(missions, name="mission")
    app.add_typer(_token_group(), name="token")
    policies = group("What agents may do: look at the rules, try them, look back.")
    add(policies, POLICY_COMMANDS)
    app.add_typer(policies, name="policy")
    roles = group("What sessions begin with: core files, and those of their role and mode.")
    add(roles, ROLE_COMMANDS)
    app.add_typer(roles, name="role")
    notices = group("Being called when an agent needs you: what was sent, the rules, a test.")
    add(notices, NOTIFY_COMMANDS)
    app.add_typer(notices, name="notify")
    return app


def _token_group() -> typer.Typer:
    """`token` alone prints one, its commands look after those with a name."""
    app = group(inspect.getdoc(tokens.local_token))
    example = 'curl -H "Authorization: Bearer $(headspace token)" http://127.0.0.1:5055/api/agents'
    app.callback(invoke_without_command=True, epilog=_lines("Examples:", example))(tokens.local_token)
    app.info.no_args_is_help = False
    add(app, TOKEN_COMMANDS)
    return app


TOKEN_COMMANDS = (
    Entry(
        "create",
        tokens.create,
        ("headspace token create grafana --scope read", "headspace token create ci --scope ingest --expires 90d"),
    ),
    Entry("list", tokens.list_tokens, ("headspace token list",)),
    Entry("revoke", tokens.revoke, ("headspace token revoke grafana",)),
)


def group(about: str | None) -> typer.Typer:
    """A group of commands, in the order in which they are added."""
    return typer.Typer(
        help=about,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def add(app: typer.Typer, entries: Sequence[Entry]) -> None:
    """Add commands to a group."""
    for entry in entries:
        app.command(
            entry.name,
            epilog=_lines("Examples:", *entry.examples),
            context_settings={"allow_extra_args": True, "ignore_unknown_options": True} if entry.passes_on else None,
        )(entry.run)


def _lines(title: str, *lines: str) -> str:
    """Lines that help texts keep as they are."""
    return "\n".join(("\b", title, *(f"  {each}" for each in lines)))


def _tell_version(wanted: bool) -> None:
    if wanted:
        from claude_headspace import __version__

        typer.echo(f"headspace {__version__}")
        raise typer.Exit


def _options(
    _version: Annotated[
        bool, typer.Option("--version", "-V", callback=_tell_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None: ...
