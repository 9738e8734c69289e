"""Every CLI command, except those that `main` adds.

An entry names the function that runs; `arguments.tree` imports it when the command is invoked. The summary is the
first line of the function's docstring, as a test ensures.
"""

from claude_headspace.surfaces.cli.arguments.tree import Command, Group

INSTEAD = {
    "kill": "headspace stop --force AGENT",
    "rm": "headspace stop AGENT` and `headspace archive AGENT",
    "delete": "headspace stop AGENT` and `headspace archive AGENT",
    "start": "headspace new` for an agent, or `headspace up` for the daemon",
}
"""Commands that people expect from other tools, and what to use."""

COMMANDS = (
    Command("up", ".up:up", "Start Headspace, install the hooks and open the dashboard."),
    Command("list", ".agents:list_agents", "List agents, those that need you first.", ("ls", "ps")),
    Command("show", ".agents:show", "Show one agent: its state, requests, grants and last turns."),
    Command("why", ".agents:why", "Explain the current state of an agent."),
    Command("diff", ".changes:diff", "Show what an agent changed: files, diffs and commits."),
    Command("tail", ".follow:tail", "Follow events as they happen, one line each."),
    Command("keys", ".keys:keys", "List the keys of `headspace top`, and check your own."),
    Command("top", ".top:top", "Show the board full screen, live."),
    Command("new", ".new:new", "Start an agent in a tmux session of its own."),
    Command("run", ".run:run", "Start a client as a registered agent."),
    Command("resume", ".run:resume", "Resume an ended agent in this terminal."),
    Command("fork", ".new:fork", "Continue the conversation of an agent as another agent."),
    Command("restart", ".new:restart", "Start the client of agents again."),
    Command("peek", ".peek:peek", "Show the screen of an agent, without going there."),
    Command("jump", ".control:jump", "Switch to the tmux pane of an agent.", ("attach",)),
    Command("send", ".send:send", "Type a prompt into the terminal of an agent, or of several."),
    Command("interrupt", ".control:interrupt", "Press Esc in the terminal of an agent."),
    Command("stop", ".stop:stop", "End the client of an agent."),
    Command("archive", ".stop:archive", "Take ended agents off the board."),
    Command("approve", ".answers:approve", "Approve a permission request or a plan."),
    Command("deny", ".answers:deny", "Deny a permission request, a plan or a question."),
    Command("answer", ".answers:answer", "Answer the questions of an agent, or fill in an MCP form."),
    Command("report", ".missions:report", "Report the result of your mission, as its worker."),
    Command("search", ".search:search", "Search prompts, replies, tool inputs and tool results."),
    Command("usage", ".usage:usage", "Show cost and tokens by day, project, model, client or agent."),
    Command("replay", ".replay:replay", "Show an agent at an earlier time, or list its past states."),
    Command("note", ".note:note", "Set a short note on what an agent is working on."),
    Command("rename", ".agents:rename", "Rename an agent."),
    Command("open", ".open:open_page", "Open the dashboard in your browser, signed in."),
    Command("status", ".status:status", "Show whether Headspace is running and receives events."),
    Command("down", ".up:down", "Stop the daemon."),
    Command("logs", ".follow:logs", "Show the log of the daemon."),
    Command("install", ".install:install", "Install the hooks in your clients."),
    Command("uninstall", ".install:uninstall", "Remove the hooks from your clients."),
    Command("doctor", ".install:doctor", "Check everything from the hooks to the database."),
    Command("fleet", ".fleet:fleet", "Show the status of each tmux pane, window and session."),
    Command("rpc", ".rpc:rpc", "Send one command to the socket of the daemon."),
    Command("statusline", ".status_line:statusline", "Report a status line payload and print a status line."),
    Command("tmux", ".status_line:tmux", "Print lines for ~/.tmux.conf."),
    Command("hook", ".hook:hook", "Record one hook event from standard input."),
    Command("import", ".imports:import_history", "Import earlier sessions, or an exported log."),
    Command("export", ".replay:export", "Export the log of an agent as JSON lines."),
    Group(
        "config",
        "Show all settings and file locations.",
        (Command("set", ".config_set:set_setting", "Change a setting in config.toml."),),
        ".config:config",
    ),
)

GROUPS = (
    Group(
        "queue",
        "List prompts that wait until their agent is idle.",
        (Command("cancel", ".queue:cancel", "Cancel the prompts that wait for an agent, or one of them."),),
        ".queue:list_queue",
    ),
    Group(
        "prompt",
        "Save prompts that you send often.",
        (
            Command("save", ".saved_prompts:save", "Save a prompt under a name, for `headspace send --saved`."),
            Command("list", ".saved_prompts:list_prompts", "List the saved prompts."),
            Command("show", ".saved_prompts:show", "Print a saved prompt."),
            Command("remove", ".saved_prompts:remove", "Remove a saved prompt."),
        ),
    ),
    Group(
        "effort",
        "Manage efforts: work that spans several sessions.",
        (
            Command("start", ".efforts:start", "Start an effort in this directory."),
            Command("list", ".efforts:list_efforts", "List the active efforts of this directory."),
            Command("show", ".efforts:show", "Show an effort: its phase, sessions and log."),
            Command("open", ".efforts:open_session", "Open the session: print its context and the handover."),
            Command("phase", ".efforts:phase", "Move to another phase."),
            Command("log", ".efforts:log", "Log what was done."),
            Command("set", ".efforts:configure", "Change limits, guards and gates."),
            Command("inject", ".efforts:inject", "Queue a text for the next step of the agent."),
            Command("dehydrate", ".efforts:dehydrate", "Store the handover for the next session."),
            Command("finish", ".efforts:finish", "Finish an effort."),
        ),
    ),
    Group(
        "worktree",
        "Manage the git worktrees of agents.",
        (
            Command("list", ".worktrees:list_all", "List the worktrees of this repository."),
            Command("merge", ".worktrees:merge_work", "Merge the work of a worktree into its base."),
            Command("rebase", ".worktrees:rebase_work", "Rebase the branch of a worktree onto its base."),
            Command("remove", ".worktrees:remove_worktree", "Remove a worktree and its branch, if no work is lost."),
        ),
    ),
    Group(
        "mission",
        "Start agents that work on their own, and see the results.",
        (
            Command("start", ".missions:start", "Start an agent that works on a goal on its own."),
            Command("list", ".missions:list_missions", "List missions."),
            Command("show", ".missions:show", "Show a mission: its sessions, timeline and outcome."),
            Command("finish", ".missions:finish", "Close a mission with an outcome."),
        ),
    ),
    Group(
        "token",
        "Print a token, or manage named tokens.",
        (
            Command("create", ".tokens:create", "Create a named token."),
            Command("list", ".tokens:list_tokens", "List named tokens."),
            Command("revoke", ".tokens:revoke", "Revoke a named token."),
        ),
        ".tokens:local_token",
    ),
    Group(
        "policy",
        "Check, explain and test the rules for tool calls.",
        (
            Command("explain", ".policy:explain", "Explain what the rules decide about a tool call."),
            Command("check", ".policy:check", "Validate the rule files and list your changes."),
            Command("test", ".policy:run_tests", "Run test cases against the rules."),
            Command("backtest", ".policy:backtest", "Apply the rules to past tool calls."),
        ),
    ),
    Group(
        "role",
        "Show the files that the context of a session starts with.",
        (
            Command("list", ".roles:list_roles", "List the roles and modes of this directory."),
            Command("show", ".roles:show", "Print the context that a session here would start with."),
            Command("check", ".roles:check", "Check that all included files are readable."),
        ),
    ),
    Group(
        "notify",
        "List notifications, show the rules, or send a test.",
        (
            Command("list", ".notifications:list_notifications", "List notifications that were sent or are delayed."),
            Command("rules", ".notifications:rules", "Show notification channels, rules and quiet hours."),
            Command("test", ".notifications:send_test", "Send a test notification."),
        ),
    ),
)
