// The address of the page. Paths are real paths, and the query has what is selected in a view, so links can be shared and
// the browser's buttons work. Which view belongs to a path is in `routes.ts`.

/** Browsers limit how often the address can be changed, so changes of the query are written together. */
const WRITE_MILLISECONDS = 300;

/** The views that have a list of their items. */
const PARENTS: Record<string, string> = { waits: "/waits", missions: "/missions", efforts: "/efforts", replay: "/replay" };

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // such as a lone percent sign
  }
}

class Router {
  path = $state(location.pathname);
  query = $state.raw(new URLSearchParams(location.search));
  /** "/agents/a%20b" is ["agents", "a b"]. */
  segments = $derived(this.path.split("/").filter(Boolean).map(decoded));
  isBoard = $derived(this.segments.length === 0);

  /** The latest change of the view. It is restored if the user went back or forward, or loaded the page. */
  arrival = $state.raw({ isRestored: true });
  readonly #leaving = new Set<() => void>();
  #writing: ReturnType<typeof setTimeout> | null = null;

  constructor() {
    window.addEventListener("popstate", () => {
      this.#stopWriting();
      this.#update();
      this.arrival = { isRestored: true };
    });
    window.addEventListener("pagehide", () => this.#write());
  }

  /** Path and query. */
  get address(): string {
    const query = this.query.toString();
    return query === "" ? this.path : `${this.path}?${query}`;
  }

  /** Call `work` before another view is opened. */
  beforeLeaving(work: () => void): void {
    this.#leaving.add(work);
  }

  /** The number of views before this one in the browser's history. */
  get #depth(): number {
    return Number((history.state as { depth?: number } | null)?.depth ?? 0);
  }

  navigate(path: string): void {
    this.#write();
    for (const work of this.#leaving) work();
    history.pushState({ depth: this.#depth + 1 }, "", path);
    this.#update();
    this.arrival = { isRestored: false };
    window.scrollTo(0, 0);
  }

  /** Change the query of this view, without a new entry in the browser's history. Empty values are left out. */
  setQuery(changes: Record<string, string | null>): void {
    const query = new URLSearchParams(this.query);
    for (const [name, value] of Object.entries(changes)) {
      if (value) query.set(name, value);
      else query.delete(name);
    }
    if (query.toString() === this.query.toString()) return;
    this.query = query;
    this.#writing ??= setTimeout(() => this.#write(), WRITE_MILLISECONDS);
  }

  /** Change the address without a new entry in the browser's history. */
  replace(path: string): void {
    this.#stopWriting();
    history.replaceState(history.state, "", path);
    this.#update();
  }

  /** Go to the previous view; if this is the first one, to the list that it belongs to, or the board. */
  back(): void {
    this.#write();
    if (this.#depth > 0) history.back();
    else this.navigate(PARENTS[this.segments.length > 1 ? this.segments[0]! : ""] ?? "/");
  }

  #write(): void {
    if (this.#writing !== null) history.replaceState(history.state, "", this.address);
    this.#stopWriting();
  }

  #stopWriting(): void {
    if (this.#writing !== null) clearTimeout(this.#writing);
    this.#writing = null;
  }

  #update(): void {
    this.path = location.pathname;
    this.query = new URLSearchParams(location.search);
  }
}

export const router = new Router();

/** Follow a link within the page without reloading it. */
export function followLink(event: MouseEvent): void {
  const link = (event.target as Element).closest("a");
  const isPlainClick = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlainClick || link.target || link.origin !== location.origin || event.defaultPrevented) return;
  event.preventDefault();
  router.navigate(link.pathname + link.search);
}

export const agentPath = (id: string): string => `/agents/${encodeURIComponent(id)}`;
export const waitPath = (id: string): string => `/waits/${encodeURIComponent(id)}`;
/** A turn of an agent's conversation. */
export const turnPath = (agent: string, turn: string): string => `${agentPath(agent)}?turn=${encodeURIComponent(turn)}`;
export const effortPath = (id: string): string => `/efforts/${encodeURIComponent(id)}`;
export const missionPath = (id: string): string => `/missions/${encodeURIComponent(id)}`;
export const replayPath = (id: string): string => `/replay/${encodeURIComponent(id)}`;
/** The page of an agent with the dialog of an action. */
export const actionPath = (agent: string, action: string): string => `${agentPath(agent)}?do=${action}`;
export const terminalPath = (agent: string): string => `${agentPath(agent)}?tab=terminal`;
/** The changes of an agent, or of one of its commands. */
export const changesPath = (agent: string, command: string | null = null): string =>
  `${agentPath(agent)}?tab=changes${command === null ? "" : `&command=${encodeURIComponent(command)}`}`;
