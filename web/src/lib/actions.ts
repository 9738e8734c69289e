// The actions of the command palette. To add one, add an entry to AGENT_ACTIONS (for the selected agent) or to
// PAGE_ACTIONS; nothing else is necessary. Reuse the function that the button of the action calls.
//
// - `problem` says why the action is not possible now, as a sentence; the action is shown, but cannot be selected.
// - `permission`: "read" shows something or changes this browser: the palette closes, then `run` is called. "act" changes
//   something else, so it needs a connection: `run` returns a sentence that says what happened, and the palette shows it,
//   or the error.
// - `asks`: the action needs a text, for example a new name. The palette asks for it, and `run` gets it.
// - `shortcut`: its name in `shortcuts.ts`; the palette shows its keys.
import { agentActions, type ActionName } from "./agent-actions";
import { post, signOut } from "./api";
import { board } from "./board.svelte";
import { clients } from "./clients.svelte";
import { goToWait } from "./focus-wait";
import { interrupt, whyNotInterrupt } from "./interrupt";
import { actionPath, agentPath, changesPath, replayPath, router, terminalPath } from "./router.svelte";
import { savedViews } from "./saved-views.svelte";
import { firstWait } from "./text";
import type { Agent } from "./types";
import { ui } from "./ui.svelte";

export type Permission = "read" | "act";
export type Outcome = void | Promise<string>;

export interface Question {
  label: string;
  value: string;
}

export interface AgentAction {
  title: string;
  permission: Permission;
  shortcut?: string;
  problem?: (agent: Agent) => string;
  asks?: (agent: Agent) => Question;
  run: (agent: Agent, text: string) => Outcome;
}

export interface PageAction {
  title: string;
  permission: Permission;
  shortcut?: string;
  problem?: () => string;
  run: () => Outcome;
}

export const AGENT_ACTIONS: AgentAction[] = [
  { title: "Open", permission: "read", run: (agent) => router.navigate(agentPath(agent.id)) },
  { title: "Show changes", permission: "read", run: (agent) => router.navigate(changesPath(agent.id)) },
  { title: "Show terminal", permission: "read", shortcut: "terminal", run: (agent) => router.navigate(terminalPath(agent.id)) },
  { title: "Replay", permission: "read", run: (agent) => router.navigate(replayPath(agent.id)) },
  {
    title: "Go to wait",
    permission: "read",
    shortcut: "wait",
    problem: (agent) => (agent.waits.length > 0 ? "" : "The agent does not wait."),
    run: (agent) => goToWait(agent.id, firstWait(agent)!.id),
  },
  { title: "Interrupt", permission: "act", problem: whyNotInterrupt, run: interrupt },
  dialogAction("Stop…", "stop"),
  dialogAction("Resume or restart…", "resume"),
  dialogAction("Fork…", "fork"),
  dialogAction("Merge, rebase or remove the worktree…", "worktree"),
  {
    title: "Rename",
    permission: "act",
    asks: (agent) => ({ label: `New name of ${agent.name}`, value: agent.name }),
    run: async (agent, name) => `The agent is now called ${(await post("/api/agents/{agent}/rename", { agent: agent.id }, { name })).name}.`,
  },
  {
    title: "Write a note",
    permission: "act",
    asks: (agent) => ({ label: `Note on ${agent.name}`, value: agent.note?.text ?? "" }),
    run: async (agent, text) => {
      await post("/api/agents/{agent}/note", { agent: agent.id }, { text });
      return text === "" ? "The note was removed." : "The note was written.";
    },
  },
  {
    title: "Archive",
    permission: "act",
    problem: (agent) => (agent.state === "ended" ? "" : "Only an agent that has ended can be archived."),
    run: async (agent) => {
      await post("/api/agents/{agent}/archive", { agent: agent.id }, {});
      return "The agent is no longer on the board. The search still finds it.";
    },
  },
];

/** An action that asks in a dialog of the agent's page. */
function dialogAction(title: string, name: ActionName): AgentAction {
  return { title, permission: "read", shortcut: `agent ${name}`, problem: (agent) => actionRefusal(agent, name), run: (agent) => router.navigate(actionPath(agent.id, name)) };
}

function actionRefusal(agent: Agent, name: ActionName): string {
  const found = agentActions(agent, (capability) => clients.limit(agent, capability)).find((each) => each.name === name);
  return found === undefined ? `${agent.name} is ${agent.state}.` : found.refusal;
}

export const PAGE_ACTIONS: PageAction[] = [
  { title: "New agent", permission: "read", run: () => router.navigate("/new") },
  { title: "New mission", permission: "read", run: () => router.navigate("/new?what=mission") },
  {
    title: "Show the agent to look at next",
    permission: "read",
    shortcut: "next agent",
    problem: () => (ui.next ? "" : "No agent needs you."),
    run: () => ui.showNext(),
  },
  { title: "Group by attention", permission: "read", shortcut: "group by attention", run: () => group("attention") },
  { title: "Group by project", permission: "read", shortcut: "group by project", run: () => group("project") },
  { title: "Columns: one for each state", permission: "read", shortcut: "group by state", run: () => group("state") },
  {
    title: "Clear the filter of the board",
    permission: "read",
    problem: () => (ui.isFiltered ? "" : "The board is not filtered."),
    run: () => ui.clearFilter(),
  },
  { title: "Save this view", permission: "read", run: () => savedViews.create() },
  { title: "Theme: like the system", permission: "read", run: () => ui.setTheme("system") },
  { title: "Theme: light", permission: "read", run: () => ui.setTheme("light") },
  { title: "Theme: dark", permission: "read", run: () => ui.setTheme("dark") },
  { title: "Keyboard shortcuts", permission: "read", shortcut: "help", run: () => void (ui.helpIsOpen = true) },
  { title: "Sign out of this browser", permission: "read", run: signOut },
];

function group(grouping: typeof ui.grouping.value): void {
  if (!router.isBoard) router.navigate("/");
  ui.grouping.value = grouping;
}

/** Why an action is not possible now; empty if it is. */
export function problemOf(permission: Permission, problem: string | undefined): string {
  if (permission === "act" && board.connection !== "live") return "Headspace is not responding.";
  return problem ?? "";
}
