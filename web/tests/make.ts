// An agent with everything that it must have; tests name what matters to them.
import type { Agent } from "../src/lib/types";

let number = 0;

export function agent(parts: Partial<Agent> = {}): Agent {
  number += 1;
  return {
    id: `agent-${number}`,
    name: `name-${number}`,
    project: { id: "p", name: "app", root: "/home/dev/app" },
    cwd: "/home/dev/app",
    branch: "main",
    host: "laptop",
    client: "claude-code",
    pid: null,
    tmux: { session: null, pane: null },
    session_id: null,
    session: null,
    parent_id: null,
    state: "idle",
    waiting_for: null,
    state_since: "2026-01-01T12:00:00+00:00",
    last_active_at: "2026-01-01T12:00:00+00:00",
    unseen: false,
    evidence: null,
    tool: null,
    command: null,
    waits: [],
    subagents: [],
    background_tasks: [],
    todo: null,
    error: null,
    model: null,
    context_percent: null,
    context_warning_level: 0,
    tokens: null,
    cost_usd: null,
    permission_mode: null,
    role: null,
    mode: "interactive",
    note: null,
    briefed: null,
    supervision: null,
    dialects: {},
    created_at: "2026-01-01T12:00:00+00:00",
    ended_at: null,
    end_reason: null,
    ...parts,
  };
}
