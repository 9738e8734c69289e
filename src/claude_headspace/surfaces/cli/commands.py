"""Every command of the command line, except those that `main` adds.

An entry names the function that runs; `lazy` imports it when the command is invoked. A test compares each summary with
the docstring of the function.
"""

from claude_headspace.surfaces.cli.lazy import Command, Group

COMMANDS = (
    Command(
        "up",
        ".up:up",
        "Start Headspace, install the hooks and open the dashboard.",
        ("headspace up", "headspace up --yes --no-open", "headspace up --service"),
    ),
    Command(
        "list",
        ".agents:list_agents",
        "List agents, those that need you first.",
        ("headspace list", "headspace list --state waiting", "headspace list --json | jq -r '.[].name'"),
    ),
    Command(
        "show",
        ".agents:show",
        "Show one agent: its state, what it asks and its last turns.",
        ("headspace show calm-otter", "headspace show calm-otter --json | jq .waits"),
    ),
    Command(
        "why",
        ".agents:why",
        "Explain the current state of an agent.",
        ("headspace why calm-otter", "headspace why calm-otter --last 100"),
    ),
    Command(
        "tail",
        ".follow:tail",
        "Follow events as they happen, one line each.",
        ("headspace tail", "headspace tail calm-otter", "headspace tail --types wait_opened,wait_closed --json"),
    ),
    Command(
        "top", ".top:top", "Show the board full screen, live.", ("headspace top", "headspace top --theme terminal")
    ),
    Command(
        "run",
        ".run:run",
        "Start Claude Code as a registered agent.",
        (
            "headspace run",
            "headspace run --name login-fix --model opus",
            'headspace run -d "Fix the flaky test"',
            'headspace run --supervise --prompt "Fix the flaky test"',
        ),
        forwards_arguments=True,
    ),
    Command(
        "resume",
        ".run:resume",
        "Resume an ended agent in this terminal.",
        ("headspace resume calm-otter", 'headspace resume calm-otter "Go on."'),
        forwards_arguments=True,
    ),
    Command("jump", ".control:jump", "Switch to the tmux pane of an agent.", ("headspace jump calm-otter",)),
    Command(
        "send",
        ".control:send",
        "Type a prompt into the terminal of an agent.",
        ('headspace send calm-otter "Run the tests again."', "git diff | headspace send calm-otter -"),
    ),
    Command(
        "interrupt", ".control:interrupt", "Press Esc in the terminal of an agent.", ("headspace interrupt calm-otter",)
    ),
    Command(
        "approve",
        ".answers:approve",
        "Approve a permission request or a plan.",
        ("headspace approve calm-otter", "headspace approve calm-otter --always"),
    ),
    Command(
        "deny",
        ".answers:deny",
        "Deny a permission request, a plan or a question.",
        ("headspace deny calm-otter", 'headspace deny calm-otter -m "use the test database"'),
    ),
    Command(
        "answer",
        ".answers:answer",
        "Answer the questions of an agent, or fill in an MCP form.",
        (
            "headspace answer calm-otter 2",
            'headspace answer calm-otter "SQLite" "unit, browser"',
            "headspace answer calm-otter --field board=7 --field urgent=yes",
        ),
    ),
    Command(
        "report",
        ".missions:report",
        "Report the result of your mission, as its worker.",
        ('headspace report "Fixed: the cache was stale."', 'headspace report --failed "The server is away."'),
    ),
    Command(
        "search",
        ".search:search",
        "Search prompts, answers, tool inputs and tool results.",
        ("headspace search expired cards", "headspace search '\"rate limit\"' --tool Bash --since 2d"),
    ),
    Command(
        "replay",
        ".replay:replay",
        "Show an agent at an earlier time, or list its past states.",
        (
            "headspace replay calm-otter",
            "headspace replay calm-otter --at 14:30",
            "headspace replay calm-otter --at 2h",
        ),
    ),
    Command(
        "note",
        ".note:note",
        "Set a short note on what an agent is working on.",
        (
            'headspace note "fixing the login"',
            'headspace note --agent calm-otter "waits for Anna"',
            "headspace note --clear",
        ),
    ),
    Command("rename", ".agents:rename", "Rename an agent.", ("headspace rename calm-otter login-fix",)),
    Command(
        "open",
        ".open:open_page",
        "Open the dashboard in your browser, signed in.",
        ("headspace open", "headspace open --print"),
    ),
    Command(
        "status",
        ".status:status",
        "Show whether Headspace is running and receives events.",
        ("headspace status", "headspace status --json | jq .running"),
    ),
    Command("down", ".up:down", "Stop the daemon.", ("headspace down", "headspace down --service")),
    Command(
        "logs",
        ".follow:logs",
        "Show the log of the daemon.",
        ("headspace logs --follow", "headspace logs --last 500 --json | jq 'select(.level == \"error\")'"),
    ),
    Command(
        "install",
        ".install:install",
        "Install the hooks in Claude Code.",
        ("headspace install", "headspace install --dry-run", "headspace install --yes -c ~/.claude -c ~/.claude-team"),
    ),
    Command(
        "uninstall",
        ".install:uninstall",
        "Remove the hooks from Claude Code.",
        ("headspace uninstall", "headspace uninstall --yes -c ~/.claude-team"),
    ),
    Command(
        "doctor",
        ".doctor:doctor",
        "Check everything from the hooks to the database.",
        ("headspace doctor", "headspace doctor --json | jq '.places[].checks[] | select(.status != \"ok\")'"),
    ),
    Command(
        "fleet",
        ".fleet:fleet",
        "Show the status of each tmux pane, window and session.",
        ("headspace fleet", "headspace fleet --json | jq .status"),
    ),
    Command(
        "rpc",
        ".rpc:rpc",
        "Send one command to the socket of the daemon.",
        ("headspace rpc ping", "headspace rpc effort.list '{\"all\": true}'", "headspace rpc hooks.stop - <a.json"),
    ),
    Command(
        "statusline",
        ".status_line:statusline",
        "Report a status line payload and print a status line.",
        ("headspace statusline <payload.json", "headspace install --statusline    (the faster way)"),
    ),
    Command(
        "tmux",
        ".status_line:tmux",
        "Print lines for ~/.tmux.conf.",
        ("headspace tmux >>~/.tmux.conf", "headspace tmux --key b"),
    ),
    Command(
        "hook",
        ".hook:hook",
        "Record one hook event from standard input.",
        ("headspace hook session-start <payload.json",),
    ),
    Command(
        "import",
        ".imports:import_history",
        "Import earlier sessions, or an exported log.",
        ("headspace import --dry-run", "headspace import", "headspace import calm-otter.jsonl"),
    ),
    Command(
        "export",
        ".replay:export",
        "Export the log of an agent as JSON lines.",
        ("headspace export calm-otter -o calm-otter.jsonl", "headspace export calm-otter | jq"),
    ),
    Command(
        "config",
        ".config:config",
        "Show all settings and file locations.",
        ("headspace config", "headspace config --json | jq .settings.port.value"),
    ),
)

GROUPS = (
    Group(
        "effort",
        "Manage efforts: work that spans several sessions.",
        (
            Command(
                "start",
                ".efforts:start",
                "Start an effort in this directory.",
                (
                    "headspace effort start brainstorm --title 'Faster checkout'",
                    "headspace effort start fix --metadata '{\"heartbeat_limit\": 20}'",
                ),
            ),
            Command("list", ".efforts:list_efforts", "List efforts.", ("headspace effort list --all",)),
            Command(
                "show",
                ".efforts:show",
                "Show an effort: its phase, sessions and log.",
                ("headspace effort show", "headspace effort show --json | jq .messages"),
            ),
            Command(
                "open",
                ".efforts:open_session",
                "Open the session: print its context and the handover.",
                ("headspace effort open",),
            ),
            Command("phase", ".efforts:phase", "Move to another phase.", ("headspace effort phase testing",)),
            Command(
                "log",
                ".efforts:log",
                "Log what was done.",
                ("headspace effort log 'The cache was stale; fixed in load().'",),
            ),
            Command(
                "set",
                ".efforts:configure",
                "Change limits, guards and gates.",
                ('headspace effort set \'{"gates": {"directives": ["AGENTS.md"]}}\'',),
            ),
            Command(
                "inject",
                ".efforts:inject",
                "Queue a text for the next step of the agent.",
                ("headspace effort inject 'The API changed: see docs/api.md'",),
            ),
            Command(
                "dehydrate",
                ".efforts:dehydrate",
                "Hand over to the next session.",
                ("headspace effort dehydrate 'Done: … Next: …' --file src/load.py",),
            ),
            Command("finish", ".efforts:finish", "Finish an effort.", ("headspace effort finish 'Released.'",)),
        ),
    ),
    Group(
        "mission",
        "Start agents that work on their own, and see the results.",
        (
            Command(
                "start",
                ".missions:start",
                "Start an agent that works on a goal on its own.",
                (
                    'headspace mission start "Find out why the nightly build is slow."',
                    'headspace mission start -b "Update the changelog." -- --permission-mode acceptEdits',
                    'headspace mission start --for calm-otter "Review the open pull requests."',
                ),
                forwards_arguments=True,
            ),
            Command(
                "list",
                ".missions:list_missions",
                "List missions.",
                ("headspace mission list", "headspace mission list --all --json | jq '.[].goal'"),
            ),
            Command(
                "show",
                ".missions:show",
                "Show a mission: its sessions, timeline and outcome.",
                ("headspace mission show 3f2a91c4", "headspace mission show brave-wren --json"),
            ),
            Command(
                "finish",
                ".missions:finish",
                "Close a mission with an outcome.",
                ("headspace mission finish 3f2a91c4", 'headspace mission finish brave-wren "Not needed." -o abandoned'),
            ),
        ),
    ),
    Group(
        "token",
        "Print a token, or manage named tokens.",
        (
            Command(
                "create",
                ".tokens:create",
                "Create a named token.",
                (
                    "headspace token create grafana --scope read",
                    "headspace token create ci --scope ingest --expires 90d",
                ),
            ),
            Command("list", ".tokens:list_tokens", "List named tokens.", ("headspace token list",)),
            Command("revoke", ".tokens:revoke", "Revoke a named token.", ("headspace token revoke grafana",)),
        ),
        ".tokens:local_token",
        ('curl -H "Authorization: Bearer $(headspace token)" http://127.0.0.1:5055/api/agents',),
    ),
    Group(
        "policy",
        "Check, explain and test the rules for tool calls.",
        (
            Command(
                "explain",
                ".policy:explain",
                "Explain what the rules decide about a tool call.",
                (
                    "headspace policy explain 'cd / && rm -rf *'",
                    "headspace policy explain .env --tool Write",
                    "headspace policy explain 'sudo ls' --preset strict --json | jq .verdict",
                ),
            ),
            Command(
                "check",
                ".policy:check",
                "Validate the rule files and list your changes.",
                ("headspace policy check", "headspace policy check draft.toml"),
            ),
            Command(
                "test",
                ".policy:run_tests",
                "Run test cases against the rules.",
                ("headspace policy test cases.toml", "headspace policy test cases.toml -f draft.toml"),
            ),
            Command(
                "backtest",
                ".policy:backtest",
                "Apply the rules to past tool calls.",
                ("headspace policy backtest", "headspace policy backtest --preset strict --last 10000"),
            ),
        ),
    ),
    Group(
        "role",
        "Show the files that the context of a session starts with.",
        (
            Command(
                "list", ".roles:list_roles", "List the roles and modes of this directory.", ("headspace role list",)
            ),
            Command(
                "show",
                ".roles:show",
                "Print the context that a session here would start with.",
                (
                    "headspace role show chief",
                    "headspace role show chief --mode background",
                    "headspace role show --json",
                ),
            ),
            Command(
                "check",
                ".roles:check",
                "Check that all included files are readable.",
                ("headspace role check", "headspace role check && headspace run --role chief"),
            ),
        ),
    ),
    Group(
        "notify",
        "List notifications, show the rules, or send a test.",
        (
            Command(
                "list",
                ".notifications:list_notifications",
                "List notifications that were sent or are delayed.",
                ("headspace notify list", "headspace notify list --json | jq .held"),
            ),
            Command(
                "rules",
                ".notifications:rules",
                "Show notification channels, rules and quiet hours.",
                ("headspace notify rules",),
            ),
            Command(
                "test",
                ".notifications:send_test",
                "Send a test notification.",
                ("headspace notify test", "headspace notify test phone"),
            ),
        ),
    ),
)
