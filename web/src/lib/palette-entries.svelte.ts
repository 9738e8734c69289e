// What the command palette offers now: agents, actions of the selected agent, views, saved
// views, actions of the page, search hits.
import { MENU } from "../routes";
import { AGENT_ACTIONS, PAGE_ACTIONS, problemOf } from "./actions";
import { get, type Reply } from "./api";
import { board } from "./board.svelte";
import { keyHint, viewKeys } from "./key-hints";
import { agentEntries, entry, matchingEntries, type Entry } from "./palette";
import { Resource } from "./resource.svelte";
import { agentPath, router } from "./router.svelte";
import { savedViews } from "./saved-views.svelte";
import { oneLine } from "./text";
import type { Agent } from "./types";
import { ui } from "./ui.svelte";

const TYPING_PAUSE_MILLISECONDS = 200;
const HITS_SHOWN = 5;
/** One letter finds too much to be useful. */
const MIN_SEARCH_LENGTH = 2;

export class PaletteEntries {
  typed = $state("");
  readonly hits = new Resource<Reply<"/api/search">>();
  readonly #offered = $derived([...agentEntries(board.layoutAgents, (agent) => ui.show(agent.id)), ...agentActions(ui.shown), ...views(), ...saved(), ...pageActions()]);
  readonly shown = $derived([...matchingEntries(this.#offered, this.typed), ...this.#searchEntries()]);

  /** Search for what is typed once typing pauses. Returns a function that cancels it. */
  searchSoon(): () => void {
    const q = this.typed.trim();
    this.hits.clear();
    if (q.length < MIN_SEARCH_LENGTH) return () => undefined;
    const timer = setTimeout(() => void this.hits.load(() => get("/api/search", { q, limit: HITS_SHOWN })), TYPING_PAUSE_MILLISECONDS);
    return () => clearTimeout(timer);
  }

  #searchEntries(): Entry[] {
    const q = this.typed.trim();
    if (q === "") return [];
    const all = entry({ id: "search", group: "Search", title: `Search all conversations for “${q}”`, run: () => router.navigate(`/search?${new URLSearchParams({ q })}`) });
    return [...(this.hits.value?.hits ?? []).map(hitEntry), all];
  }
}

function hitEntry(hit: Reply<"/api/search">["hits"][number], number: number): Entry {
  const title = oneLine(hit.snippet.map((part) => part.text).join(""));
  return entry({ id: `hit ${number}`, group: "Search", title, detail: hit.agent, run: () => router.navigate(`${agentPath(hit.agent_id)}?at=${encodeURIComponent(hit.at)}`) });
}

function agentActions(agent: Agent | null): Entry[] {
  if (agent === null) return [];
  return AGENT_ACTIONS.map(({ title, permission, shortcut, problem, asks, run }) =>
    entry({
      id: `agent action ${title}`,
      group: agent.name,
      title,
      keys: shortcut === undefined ? [] : keyHint(shortcut),
      problem: problemOf(permission, problem?.(agent)),
      asks: asks?.(agent) ?? null,
      staysOpen: permission === "act",
      run: (text) => run(agent, text),
    }),
  );
}

function views(): Entry[] {
  return MENU.map(({ path, title }) => entry({ id: `view ${path}`, group: "Views", title, keys: viewKeys(path) ?? [], run: () => router.navigate(path) }));
}

function saved(): Entry[] {
  return savedViews.all.flatMap((view) => [
    entry({ id: `saved ${view.name}`, group: "Saved views", title: view.name, run: () => router.navigate(view.address) }),
    entry({ id: `edit ${view.name}`, group: "Saved views", title: `Rename or remove ${view.name}`, run: () => void (savedViews.edited = view) }),
  ]);
}

function pageActions(): Entry[] {
  return PAGE_ACTIONS.map(({ title, permission, shortcut, problem, run }) =>
    entry({
      id: `action ${title}`,
      group: "Actions",
      title,
      keys: shortcut === undefined ? [] : keyHint(shortcut),
      problem: problemOf(permission, problem?.()),
      staysOpen: permission === "act",
      run,
    }),
  );
}
