// Agents, waits and numbers as text. Pure. The terminal uses the same sentences (`surfaces/text/labels.py`); the examples in
// `tests/agent-summaries.json` test both.
import { ago, parseTime } from "./time";
import type { Agent, AgentMission, PolicyVerdict, State, Subagent, Tool, ToolWords, Wait } from "./types";

export const SHAPES: Record<string, string> = {
  waiting: "◆",
  error: "✕",
  working: "●",
  idle: "○",
  starting: "◌",
  ended: "–",
};

/** Most urgent first: the order of the board. */
export const STATES: State[] = ["waiting", "error", "working", "starting", "idle", "ended"];

/** The words for tools. Those of all clients are loaded with the board. */
const TOOL_ACTIVITIES: Record<string, string> = {
  Read: "reading",
  Edit: "editing",
  MultiEdit: "editing",
  NotebookEdit: "editing",
  Write: "writing",
  Grep: "searching for",
  Glob: "looking for",
  WebFetch: "fetching",
  WebSearch: "searching the web for",
};
const TOOL_VERBS: Record<string, string> = {
  Bash: "run",
  Read: "read",
  Edit: "edit",
  MultiEdit: "edit",
  NotebookEdit: "edit",
  Write: "write",
  WebFetch: "fetch",
  WebSearch: "search the web for",
};
const FILE_TOOLS = new Set(["Read", "Edit", "MultiEdit", "NotebookEdit", "Write"]);
export function learnTools(tools: readonly ToolWords[]): void {
  for (const { name, doing, wants, is_file } of tools) {
    if (doing) TOOL_ACTIVITIES[name] = doing;
    if (wants) TOOL_VERBS[name] = wants;
    if (is_file) FILE_TOOLS.add(name);
  }
}

const WAITING_FOR: Record<string, string> = {
  question: "an answer",
  elicitation: "an answer",
  plan: "plan approval",
  permission: "permission",
  dialog: "input in its terminal",
};

export function oneLine(text: string): string {
  return text.split(/\s+/).filter(Boolean).join(" ");
}

export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}

/** The state of an agent in a few words. */
export function agentSummary(agent: Agent, now: number): string {
  switch (agent.state) {
    case "waiting":
      return waitingSummary(agent);
    case "error":
      return `stopped: ${(agent.error ?? "unknown error").replaceAll("_", " ")}`;
    case "working":
      return workingSummary(agent);
    case "idle":
      return idleSummary(agent, now);
    case "ended":
      return agent.ended_at ? `ended ${ago(agent.ended_at, now)}` : "ended";
    case "starting":
      return agent.supervision?.under_way ? `restarting: ${agent.supervision.reason}` : "starting";
    default:
      return agent.state;
  }
}

/** The summary of an agent with its note. An agent that needs attention shows only the summary. */
export function agentActivity(agent: Agent, now: number): string {
  const summary = agentSummary(agent, now);
  if (!agent.note || !["working", "idle", "starting"].includes(agent.state)) return summary;
  return `${summary} · ${oneLine(agent.note.text)}`;
}

/** Its mode if it is on a mission, and how many of its workers have finished since its last prompt. */
export function agentTags(agent: Agent): string[] {
  const workers = agent.news.length > 0 ? [`${count(agent.news.length, "worker")} finished`] : [];
  return agent.mission ? [agent.mode, ...workers] : workers;
}

const RULINGS: Record<string, string> = { deny: "denied", ask: "asked", warn: "warned" };

/** The effect of a policy rule on a tool call. */
export function verdictText(verdict: Pick<PolicyVerdict, "ruling" | "enforced">): string {
  return verdict.enforced ? (RULINGS[verdict.ruling] ?? verdict.ruling) : `would ${verdict.ruling}`;
}

export function missionStatus(mission: Pick<AgentMission, "outcome">): string {
  return mission.outcome ?? "in progress";
}

/** Whether the summary already says when the state began. */
export function summaryIncludesTime(agent: Agent): boolean {
  return agent.state === "ended" || (agent.state === "idle" && isDone(agent));
}

/** A state in a sentence: "waiting for an answer". */
export function stateText(state: string, waitingFor: string | null): string {
  return state === "waiting" ? `waiting for ${WAITING_FOR[waitingFor ?? ""] ?? "input"}` : state;
}

function waitingSummary(agent: Agent): string {
  const first = firstWait(agent);
  if (!first) return stateText("waiting", agent.waiting_for);
  const more = agent.waits.length > 1 ? ` (and ${agent.waits.length - 1} more)` : "";
  return waitText(first) + more;
}

/**
 * The wait that every surface names first: the oldest without an answer, as clients show their dialogs. One that can be answered is named before one that
 * cannot: several hooks at once may arrive in another order than that of the dialogs on the screen.
 */
export function firstWait(agent: Agent): Wait | undefined {
  const unanswered = agent.waits.filter((wait) => !wait.answered);
  return unanswered.find((wait) => wait.held_until) ?? unanswered[0] ?? agent.waits[0];
}

/** What a wait asks, without the command or file: the card shows that in full. */
export function waitTitle(wait: Wait): string {
  const text = waitText(wait);
  const subject = text.indexOf(": ");
  return wait.kind === "permission" && subject !== -1 ? text.slice(0, subject) : text;
}

/** What a wait asks of the user. */
export function waitText(wait: Wait): string {
  const text = oneLine(wait.text);
  const tool = wait.tool ?? "";
  if (wait.kind === "permission") {
    const subject = toolSubject(tool, wait.summary) || text;
    const verb = TOOL_VERBS[tool] ? `wants to ${TOOL_VERBS[tool]}` : tool ? `wants to use ${tool}` : "asks";
    return subject ? `${verb}: ${subject}` : "asks for permission";
  }
  if (wait.kind === "plan") return tool === "EnterPlanMode" ? "wants to plan first" : "has a plan";
  if (wait.kind === "dialog") return text ? `shows a dialog: ${text}` : "shows a dialog";
  return text ? `asks: ${questionText(wait)}` : "asks a question";
}

/** The question. For a message that ends with one, only its last sentence. */
function questionText(wait: Wait): string {
  if (wait.questions.length > 0 || wait.tool) return oneLine(wait.text);
  const lastLine = wait.text.trimEnd().split("\n").at(-1)?.trim() ?? "";
  return lastLine.split(/(?<=[.!?:])\s+/).at(-1) ?? "";
}

function workingSummary(agent: Agent): string {
  if (agent.tool) return toolText(agent.tool);
  const [first, ...others] = agent.subagents;
  if (first && others.length > 0) return `${agent.subagents.length} sub-agents working`;
  if (first) return `sub-agent: ${subagentText(first)}`;
  const text = agent.command && agent.command.ended_at === null ? oneLine(agent.command.text) : "";
  return text ? `working: ${text}` : "working";
}

export function subagentText(subagent: Subagent): string {
  const kind = subagent.type || "sub-agent";
  if (subagent.tool) return `${kind}, ${toolText(subagent.tool)}`;
  return subagent.description ? `${kind}, ${oneLine(subagent.description)}` : kind;
}

/** A tool call: "editing auth.py", "Bash: npm test". */
export function toolText(tool: Pick<Tool, "name" | "summary">): string {
  const subject = toolSubject(tool.name, tool.summary);
  if (TOOL_ACTIVITIES[tool.name] && subject) return `${TOOL_ACTIVITIES[tool.name]} ${subject}`;
  return subject ? `${tool.name}: ${subject}` : tool.name;
}

/** What a tool call is about. For one file, its name without directories; a text with spaces can name several files. */
export function toolSubject(tool: string, text: string): string {
  const isPath = FILE_TOOLS.has(tool) && !/\s/.test(text);
  return isPath ? (text.replace(/\/+$/, "").split("/").at(-1) ?? "") : oneLine(text);
}

/** Whether it finished a command in this session and nothing is running in the background. */
function isDone(agent: Agent): boolean {
  const ended = agent.command?.ended_at;
  if (!ended || agent.background_tasks.length > 0) return false;
  return agent.session === null || parseTime(agent.session.started_at) <= parseTime(ended);
}

function idleSummary(agent: Agent, now: number): string {
  const tasks = agent.background_tasks;
  if (tasks.length > 0) {
    const kind = tasks.every((task) => task.kind === "shell") ? "shell" : "task";
    return `idle, ${count(tasks.length, kind)} running`;
  }
  const command = agent.command;
  if (!command?.ended_at || !isDone(agent)) return "idle";
  const word = command.outcome === null || command.outcome === "completed" ? "done" : command.outcome;
  return `${word} ${ago(command.ended_at, now)}`;
}

/** The short name of a model: "opus 4.5" for "claude-opus-4-5-20260101[1m]". Other models keep their names. */
export function modelName(model: string): string {
  if (!model.includes("claude-")) return model;
  const bare = model.replace(/\[.*\]$/, "").replace(/^.*?claude-/, "").replace(/-\d{6,}.*$/, "");
  const parts = bare.split("-");
  const numbers = parts.filter((part) => /^\d+$/.test(part)).join(".");
  const names = parts.filter((part) => !/^\d+$/.test(part)).join(" ");
  return numbers ? `${names} ${numbers}`.trim() : names || model;
}

export function formatTokens(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  return tokens < 1_000_000 ? `${Math.round(tokens / 1000)}k` : `${(tokens / 1_000_000).toFixed(1)}M`;
}

/** A cost. One of less than half a cent is not nothing. */
export function formatCost(cost: number): string {
  if (cost > 0 && cost < 0.005) return "<$0.01";
  return cost < 10 ? `$${cost.toFixed(2)}` : `$${Math.round(cost)}`;
}

export type Level = "calm" | "note" | "warning" | "full";

/** The levels at which the agent itself is warned that its context fills up. */
export function contextLevel(percent: number): Level {
  if (percent >= 90) return "full";
  if (percent >= 80) return "warning";
  return percent >= 60 ? "note" : "calm";
}

/** What was answered, in one line: "Answered Red", "Allowed, and granted: Allow Bash(make:*)". */
export function answeredText({ words, grants }: Pick<NonNullable<Wait["answered"]>, "words" | "grants">): string {
  const text = grants.length > 0 ? `allowed, and granted: ${grants.map((grant) => grant.words).join("; ")}` : words;
  return text.charAt(0).toUpperCase() + text.slice(1);
}
