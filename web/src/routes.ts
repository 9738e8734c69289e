// All views of the page, each loaded when it is first opened. The router, the sidebar and the command palette are derived
// from this table; the shortcuts that open views are in `lib/shortcuts.ts`.
import { Lazy } from "./lib/lazy.svelte";

export interface Route {
  path: string;
  /** Shown at `path`. */
  view?: Lazy<Record<string, never>>;
  /** Shown at `path/ID`. */
  detail?: Lazy<{ id: string }>;
  /** In the sidebar and in the command palette. */
  title?: string;
}

/** Opened over every view. */
export const PALETTE = new Lazy(() => import("./components/CommandPalette.svelte"));

/** The panel beside the board. */
export const PANEL = new Lazy(() => import("./components/AgentPanel.svelte"));

const waits = new Lazy<{ id?: string }>(() => import("./views/Waits.svelte"));
const replay = new Lazy<{ id?: string }>(() => import("./views/Replay.svelte"));

const ROUTES: Route[] = [
  { path: "/", view: new Lazy(() => import("./views/Board.svelte")), title: "Board" },
  { path: "/new", view: new Lazy(() => import("./views/NewAgent.svelte")) },
  { path: "/agents", detail: new Lazy(() => import("./views/Agent.svelte")) },
  { path: "/waits", view: waits, detail: waits, title: "Waits" },
  {
    path: "/missions",
    view: new Lazy(() => import("./views/Missions.svelte")),
    detail: new Lazy(() => import("./views/Mission.svelte")),
    title: "Missions",
  },
  {
    path: "/efforts",
    view: new Lazy(() => import("./views/Efforts.svelte")),
    detail: new Lazy(() => import("./views/Effort.svelte")),
    title: "Efforts",
  },
  { path: "/search", view: new Lazy(() => import("./views/Search.svelte")), title: "Search" },
  { path: "/activity", view: new Lazy(() => import("./views/Activity.svelte")), title: "Activity" },
  { path: "/usage", view: new Lazy(() => import("./views/Usage.svelte")), title: "Usage" },
  { path: "/timeline", view: new Lazy(() => import("./views/Timeline.svelte")), title: "Timeline" },
  { path: "/replay", view: replay, detail: replay, title: "Replay" },
  { path: "/logging", view: new Lazy(() => import("./views/Logging.svelte")), title: "Logging" },
  { path: "/settings", view: new Lazy(() => import("./views/Settings.svelte")), title: "Settings" },
];

/** The views of the sidebar. */
export const MENU = ROUTES.filter((route) => route.title !== undefined) as (Route & Required<Pick<Route, "view" | "title">>)[];

/** The route of an address, given as its decoded segments. */
export function findRoute([first = "", ...rest]: string[]): Route | undefined {
  return rest.length > 1 ? undefined : ROUTES.find((route) => route.path === `/${first}`);
}
