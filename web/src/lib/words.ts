// What an agent does, in the words that the terminal uses too (`surfaces/text/labels.py`; one file of examples tests
// both). Pure.
import type { Agent, Judged, Mission, State, Subagent, Tool, Wait } from "./types";
import { ago, instant } from "./time";

export const SHAPES: Record<State, string> = {
  waiting: "◆",
  error: "✕",
  working: "●",
  idle: "○",
  starting: "◌",
  ended: "–",
};

export const STATES: State[] = ["waiting", "error", "working", "starting", "idle", "ended"];

const DOES: Record<string, string> = {
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
const WANTS: Record<string, string> = {
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
const WAITS: Record<string, string> = {
  question: "an answer",
  elicitation: "an answer",
  plan: "an approval of its plan",
  permission: "a permission",
  dialog: "somebody at its terminal",
};

export function oneLine(text: string): string {
  return text.split(/\s+/).filter(Boolean).join(" ");
}

export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** What matters about an agent, in a few words. */
export function summary(agent: Agent, now: number): string {
  switch (agent.state) {
    case "waiting":
      return waiting(agent);
    case "error":
      return `stopped: ${(agent.error ?? "unknown error").replaceAll("_", " ")}`;
    case "working":
      return working(agent);
    case "idle":
      return idle(agent, now);
    case "ended":
      return agent.ended_at ? `ended ${ago(agent.ended_at, now)}` : "ended";
    case "starting":
      return agent.supervision?.under_way ? `starting anew: ${agent.supervision.reason}` : "starting";
    default:
      return agent.state;
  }
}

/** What it does, and what it says that it is at; who needs somebody says only that. */
export function doing(agent: Agent, now: number): string {
  const words = summary(agent, now);
  if (!agent.note || !["working", "idle", "starting"].includes(agent.state)) return words;
  return `${words} · ${oneLine(agent.note.text)}`;
}

/** What sets an agent apart from others: that it works by itself, that workers of its are back. */
export function marks(agent: Agent): string[] {
  const back = agent.news.length > 0 ? [`${count(agent.news.length, "worker")} back`] : [];
  return agent.mission ? [agent.mode, ...back] : back;
}

const RULINGS: Record<string, string> = { deny: "denied", ask: "asked", warn: "warned" };

/** What a rule said of a call. */
export function rulingWords(judged: Pick<Judged, "ruling" | "enforced">): string {
  return judged.enforced ? (RULINGS[judged.ruling] ?? judged.ruling) : `would ${judged.ruling}`;
}

/** How a mission stands. */
export function outcomeWords(mission: Pick<Mission, "outcome">): string {
  return mission.outcome ?? "under way";
}

/** Whether the summary says already since when. */
export function tellsTime(agent: Agent): boolean {
  return agent.state === "ended" || (agent.state === "idle" && isDone(agent));
}

/** A state in a sentence: "waiting for an answer". */
export function stateWords(state: string, waitingFor: string | null): string {
  return state === "waiting" ? `waiting for ${WAITS[waitingFor ?? ""] ?? "somebody"}` : state;
}

function waiting(agent: Agent): string {
  const last = agent.waits.at(-1);
  if (!last) return stateWords("waiting", agent.waiting_for);
  const more = agent.waits.length > 1 ? ` (and ${agent.waits.length - 1} more)` : "";
  return want(last) + more;
}

/** What a human is wanted for. */
export function want(wait: Wait): string {
  const text = oneLine(wait.text);
  const tool = wait.tool ?? "";
  if (wait.kind === "permission") {
    const about = aboutOf(tool, wait.summary) || text;
    const verb = WANTS[tool] ? `wants to ${WANTS[tool]}` : tool ? `wants to use ${tool}` : "asks";
    return about ? `${verb}: ${about}` : "asks for a permission";
  }
  if (wait.kind === "plan") return tool === "EnterPlanMode" ? "wants to plan first" : "has a plan";
  if (wait.kind === "dialog") return text ? `shows a dialog: ${text}` : "shows a dialog";
  return text ? `asks: ${question(wait)}` : "asks something";
}

/** The words to answer: of a message that ends with a question, its last sentence. */
function question(wait: Wait): string {
  if (wait.questions.length > 0 || wait.tool) return oneLine(wait.text);
  const lastLine = wait.text.trimEnd().split("\n").at(-1)?.trim() ?? "";
  return lastLine.split(/(?<=[.!?:])\s+/).at(-1) ?? "";
}

function working(agent: Agent): string {
  if (agent.tool) return toolWords(agent.tool);
  const [first, ...others] = agent.subagents;
  if (first && others.length > 0) return `${agent.subagents.length} sub-agents at work`;
  if (first) return `sub-agent: ${subagentWords(first)}`;
  const text = agent.command && agent.command.ended_at === null ? oneLine(agent.command.text) : "";
  return text ? `working: ${text}` : "working";
}

export function subagentWords(subagent: Subagent): string {
  const kind = subagent.type || "sub-agent";
  if (subagent.tool) return `${kind}, ${toolWords(subagent.tool)}`;
  return subagent.description ? `${kind}, ${oneLine(subagent.description)}` : kind;
}

/** The tool in flight: "editing auth.py", "Bash: npm test". */
export function toolWords(tool: Pick<Tool, "name" | "summary">): string {
  const about = aboutOf(tool.name, tool.summary);
  if (DOES[tool.name] && about) return `${DOES[tool.name]} ${about}`;
  return about ? `${tool.name}: ${about}` : tool.name;
}

/** What a call is about; of a file the name is enough. */
export function aboutOf(tool: string, text: string): string {
  return FILE_TOOLS.has(tool) ? (text.replace(/\/+$/, "").split("/").at(-1) ?? "") : oneLine(text);
}

/** Whether it finished something in this session and has nothing left running. */
function isDone(agent: Agent): boolean {
  const ended = agent.command?.ended_at;
  if (!ended || agent.background_tasks.length > 0) return false;
  return agent.session === null || instant(agent.session.started_at) <= instant(ended);
}

function idle(agent: Agent, now: number): string {
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

/** A model as people call it: "opus 4.5" of "claude-opus-4-5-20260101[1m]". */
export function modelWords(model: string): string {
  const bare = model.replace(/\[.*\]$/, "").replace(/^.*?claude-/, "").replace(/-\d{6,}.*$/, "");
  const parts = bare.split("-");
  const numbers = parts.filter((part) => /^\d+$/.test(part)).join(".");
  const names = parts.filter((part) => !/^\d+$/.test(part)).join(" ");
  return numbers ? `${names} ${numbers}`.trim() : names || model;
}

export function tokensWords(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  return tokens < 1_000_000 ? `${Math.round(tokens / 1000)}k` : `${(tokens / 1_000_000).toFixed(1)}M`;
}

export function costWords(cost: number): string {
  return cost < 10 ? `$${cost.toFixed(2)}` : `$${Math.round(cost)}`;
}

export type Level = "calm" | "note" | "warning" | "full";

/** How full a context is, in the levels at which the agent itself is warned. */
export function contextLevel(percent: number): Level {
  if (percent >= 90) return "full";
  if (percent >= 80) return "warning";
  return percent >= 60 ? "note" : "calm";
}
