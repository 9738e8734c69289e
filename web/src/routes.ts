// All views of the page. The router, the sidebar, the keyboard shortcuts and their help are derived from this table.
import type { Component } from "svelte";
import Activity from "./views/Activity.svelte";
import Agent from "./views/Agent.svelte";
import Board from "./views/Board.svelte";
import Effort from "./views/Effort.svelte";
import Efforts from "./views/Efforts.svelte";
import Logging from "./views/Logging.svelte";
import Mission from "./views/Mission.svelte";
import Missions from "./views/Missions.svelte";
import Replay from "./views/Replay.svelte";
import Search from "./views/Search.svelte";
import Settings from "./views/Settings.svelte";
import Waits from "./views/Waits.svelte";

export interface Route {
  path: string;
  /** Shown at `path`. */
  view?: Component;
  /** Shown at `path/ID`. */
  detail?: Component<{ id: string }>;
  /** In the sidebar and in the keyboard help. */
  title?: string;
  /** Opens the view after `g`. */
  shortcut?: string;
}

const ROUTES: Route[] = [
  { path: "/", view: Board, title: "Board", shortcut: "b" },
  { path: "/agents", detail: Agent },
  { path: "/waits", view: Waits, title: "Waits", shortcut: "w" },
  { path: "/missions", view: Missions, detail: Mission, title: "Missions", shortcut: "m" },
  { path: "/efforts", view: Efforts, detail: Effort, title: "Efforts", shortcut: "e" },
  { path: "/search", view: Search, title: "Search", shortcut: "s" },
  { path: "/activity", view: Activity, title: "Activity", shortcut: "a" },
  { path: "/replay", view: Replay, detail: Replay, title: "Replay", shortcut: "r" },
  { path: "/logging", view: Logging, title: "Logging", shortcut: "l" },
  { path: "/settings", view: Settings, title: "Settings", shortcut: "," },
];

/** The views of the sidebar. */
export const MENU = ROUTES.filter((route) => route.title !== undefined) as (Route & Required<Pick<Route, "view" | "title" | "shortcut">>)[];

/** The route of an address, given as its decoded segments. */
export function findRoute([first = "", ...rest]: string[]): Route | undefined {
  return rest.length > 1 ? undefined : ROUTES.find((route) => route.path === `/${first}`);
}
