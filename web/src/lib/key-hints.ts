// The keys of a shortcut as this computer shows them.
import { keyLabels, shortcut, SHORTCUTS } from "./shortcuts";

export const IS_MAC = /mac|iphone|ipad/i.test(navigator.platform);

/** The parts of its first keys: ["g", "b"]. */
export const keyHint = (name: string): string[] => keyLabels(shortcut(name).keys[0]!, IS_MAC);

/** For the `title` of a button: "Key w", "Keys Ctrl K". */
export function keyTitle(name: string): string {
  const labels = keyHint(name);
  return `${labels.length === 1 ? "Key" : "Keys"} ${labels.join(" ")}`;
}

/** The keys that open a view: "g b"; null if it has none. */
export function viewKeys(path: string): string[] | null {
  const found = SHORTCUTS.find((each) => each.path === path);
  return found === undefined ? null : keyLabels(found.keys[0]!, IS_MAC);
}
