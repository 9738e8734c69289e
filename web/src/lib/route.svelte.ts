// Where we are. Paths are real paths: a link can be sent to oneself, and the browser's buttons work.

export type Place =
  | { view: "board" }
  | { view: "agent"; id: string }
  | { view: "waits" }
  | { view: "efforts" }
  | { view: "effort"; id: string }
  | { view: "search" }
  | { view: "activity" }
  | { view: "missions"; id: string | null }
  | { view: "replay"; id: string | null }
  | { view: "logging" }
  | { view: "settings" }
  | { view: "nowhere" };

const PLAIN = new Set(["waits", "efforts", "search", "activity", "logging", "settings"]);

export function placeOf(path: string): Place {
  const [first = "", second] = path.split("/").filter(Boolean).map(decodeURIComponent);
  if (first === "") return { view: "board" };
  if (first === "agents" && second) return { view: "agent", id: second };
  if (first === "missions") return { view: "missions", id: second ?? null };
  if (first === "efforts" && second) return { view: "effort", id: second };
  if (first === "replay") return { view: "replay", id: second ?? null };
  return PLAIN.has(first) && second === undefined ? ({ view: first } as Place) : { view: "nowhere" };
}

class Route {
  place = $state.raw<Place>(placeOf(location.pathname));
  query = $state.raw(new URLSearchParams(location.search));

  constructor() {
    window.addEventListener("popstate", () => this.#read());
  }

  go(path: string): void {
    history.pushState(null, "", path);
    this.#read();
    window.scrollTo(0, 0);
  }

  replace(path: string): void {
    history.replaceState(null, "", path);
    this.#read();
  }

  #read(): void {
    this.place = placeOf(location.pathname);
    this.query = new URLSearchParams(location.search);
  }
}

export const route = new Route();

/** Follow a link without loading the page anew. */
export function follow(event: MouseEvent): void {
  const link = (event.target as Element).closest("a");
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !plain || link.target || link.origin !== location.origin || event.defaultPrevented) return;
  event.preventDefault();
  route.go(link.pathname + link.search);
}

export function missionPath(id: string): string {
  return `/missions/${encodeURIComponent(id)}`;
}

export function agentPath(id: string): string {
  return `/agents/${encodeURIComponent(id)}`;
}
