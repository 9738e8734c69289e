// What the user selected: grouping, filter, selected agent, theme. Agents themselves are in the board store.
import {
  countByClient,
  countByProject,
  haveSameCounts,
  matchesFilter,
  nextAgent,
  sections,
  visitsWith,
  type Filter,
  type Grouping,
  type ProjectCount,
  type Visits,
} from "./board-layout";
import { board } from "./board.svelte";
import { agentPath, router } from "./router.svelte";
import { StoredSetting } from "./stored-setting.svelte";
import type { Agent } from "./types";

export type Theme = "system" | "light" | "dark";

/** The narrowest page that has room for the selected agent beside the board. As in App.svelte. */
const PANEL_WIDTH = 1180;
const NO_FILTER: Filter = { text: "", project: null, state: null, client: null };

class Ui {
  readonly grouping = new StoredSetting<Grouping>("view", "attention");
  filter = $state<Filter>({ ...NO_FILTER });
  selected = $state<string | null>(null);
  helpIsOpen = $state(false);
  paletteIsOpen = $state(false);
  theme = $state<Theme>((document.documentElement.dataset.theme as Theme | undefined) ?? "system");

  /** A text filter matches everything that a card shows, so every change of an agent counts while there is one. */
  #filtered = $derived((this.filter.text === "" ? board.layoutAgents : [...board.agents.values()]).filter((agent) => matchesFilter(agent, this.filter)));
  sections = $derived(sections(this.#filtered, this.grouping.value));
  /** The agents in the order in which they are shown. */
  order = $derived(this.sections.flatMap((section) => section.agents));
  #projects: ProjectCount[] = [];
  /** Keeps the same list while no count changes, so that the sidebar is not rendered again. */
  projects = $derived.by(() => {
    const counted = countByProject(board.layoutAgents);
    if (!haveSameCounts(this.#projects, counted)) this.#projects = counted;
    return this.#projects;
  });
  clients = $derived(countByClient(board.layoutAgents));
  /** Only then cards show their client, and the board can be filtered by it. */
  hasSeveralClients = $derived(this.clients.length > 1);
  selectedAgent = $derived<Agent | null>(this.selected === null ? null : (board.agents.get(this.selected) ?? null));
  isFiltered = $derived(Object.entries(this.filter).some(([name, value]) => value !== NO_FILTER[name as keyof Filter]));

  #visits = $state.raw<Visits>(new Set());
  /** The agent that the user looks at: that of the view, or the selected one. */
  shown = $derived<Agent | null>(router.segments[0] === "agents" ? board.find(router.segments[1] ?? "") : router.isBoard ? this.selectedAgent : null);
  /** The agent that *Next* shows. */
  next = $derived(nextAgent(board.layoutAgents, this.#visits, this.shown?.id));

  /** Show the agent to look at next. */
  showNext(): void {
    const next = this.next;
    if (next === null) return;
    this.#visits = visitsWith(this.#visits, next, this.shown);
    this.show(next.id);
  }

  /** Show an agent: beside the board if there is room, otherwise on its page. */
  show(id: string): void {
    this.clearFilter();
    this.selected = id;
    if (!this.hasRoomForPanel) router.navigate(agentPath(id));
    else if (!router.isBoard) router.navigate("/");
  }

  get hasRoomForPanel(): boolean {
    return window.innerWidth >= PANEL_WIDTH;
  }

  clearFilter(): void {
    this.filter = { ...NO_FILTER };
  }

  /** Select the next or the previous agent in the order in which they are shown. */
  selectNext(by: 1 | -1): void {
    const current = this.order.findIndex((agent) => agent.id === this.selected);
    const next = current === -1 ? (by === 1 ? 0 : this.order.length - 1) : current + by;
    this.selected = this.order[Math.min(Math.max(next, 0), this.order.length - 1)]?.id ?? null;
  }

  /** `theme.js` applies the stored theme before the first paint. */
  setTheme(theme: Theme): void {
    this.theme = theme;
    try {
      if (theme === "system") localStorage.removeItem("headspace.theme");
      else localStorage.setItem("headspace.theme", theme);
    } catch {
      // No storage: the theme lasts until the page is closed.
    }
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }
}

export const ui = new Ui();
