// What a person chose to look at. Nothing here says anything about agents.
import { areSame, matches, projects, sections, type Filter, type ProjectCount, type View } from "./arrange";
import { board } from "./board.svelte";
import { Kept } from "./kept.svelte";
import type { Agent } from "./types";

export type Theme = "system" | "light" | "dark";

class Ui {
  readonly view = new Kept<View>("view", "attention");
  filter = $state<Filter>({ text: "", project: null, state: null });
  selected = $state<string | null>(null);
  helpIsOpen = $state(false);
  theme = $state<Theme>((document.documentElement.dataset.theme as Theme | undefined) ?? "system");

  /** Words are looked for in all that a card shows, so while somebody types every change counts. */
  shown = $derived((this.filter.text === "" ? board.placed : [...board.agents.values()]).filter((agent) => matches(agent, this.filter)));
  sections = $derived(sections(this.shown, this.view.value));
  order = $derived(this.sections.flatMap((section) => section.agents));
  #projects: ProjectCount[] = [];
  projects = $derived.by(() => {
    const found = projects(board.placed);
    if (!areSame(this.#projects, found)) this.#projects = found;
    return this.#projects;
  });
  agent = $derived<Agent | null>(this.selected === null ? null : (board.agents.get(this.selected) ?? null));
  isFiltered = $derived(this.filter.text !== "" || this.filter.project !== null || this.filter.state !== null);

  clear(): void {
    this.filter = { text: "", project: null, state: null };
  }

  /** Select the next or the previous agent in the order in which they are shown. */
  step(by: 1 | -1): void {
    const at = this.order.findIndex((agent) => agent.id === this.selected);
    const next = at === -1 ? (by === 1 ? 0 : this.order.length - 1) : at + by;
    this.selected = this.order[Math.min(Math.max(next, 0), this.order.length - 1)]?.id ?? null;
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    try {
      if (theme === "system") localStorage.removeItem("headspace.theme");
      else localStorage.setItem("headspace.theme", theme);
    } catch {
      // It holds until the page is closed.
    }
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }
}

export const ui = new Ui();
