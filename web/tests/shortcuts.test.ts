// The table of shortcuts is free of conflicts and complete: whatever it names exists, and nothing else has keys.
import { expect, test } from "vitest";
import { conflicts, keyLabels, SHORTCUTS, scopesFrom, shortcut, type Shortcut } from "../src/lib/shortcuts";

const sources = Object.values(import.meta.glob<string>("../src/**/*.svelte", { query: "?raw", import: "default", eager: true }));
const [routes] = Object.values(import.meta.glob<string>("../src/routes.ts", { query: "?raw", import: "default", eager: true }));

const example = (parts: Partial<Shortcut>): Shortcut => ({ name: "one", keys: ["x"], description: "", scope: "everywhere", ...parts });

test("no two shortcuts have the same key in the same place", () => {
  expect(conflicts(SHORTCUTS)).toEqual([]);
  expect(new Set(SHORTCUTS.map((each) => each.name)).size).toBe(SHORTCUTS.length);
});

test("the same key in places that overlap is a conflict", () => {
  const other = example({ name: "two", keys: ["y", "x"] });
  expect(conflicts([example({}), other])).toEqual(["x: one (everywhere) and two (everywhere)"]);
  expect(conflicts([example({}), { ...other, scope: "changes" }])).toHaveLength(1);
  expect(conflicts([example({ scope: "board" }), { ...other, scope: "wait" }])).toHaveLength(1);
  expect(conflicts([example({ scope: "board" }), { ...other, scope: "agent" }])).toEqual([]);
});

test("a narrower place can override a key, its own place cannot", () => {
  const other = example({ name: "two", scope: "agent", overrides: true });
  expect(conflicts([example({}), other])).toEqual([]);
  expect(conflicts([example({ scope: "agent" }), other])).toHaveLength(1);
});

test("the first key of a chord is not a shortcut", () => {
  expect(conflicts([example({}), example({ name: "two", keys: ["x b"] })])).toHaveLength(1);
});

test("elements name shortcuts that exist, and keys are shown only from the table", () => {
  const used = sources.flatMap((text) => [...text.matchAll(/data-shortcut=(?:"([^"]+)"|\{[^}]*?"([^"]+)"[^}]*\})/g)].map(([, one, other]) => one ?? other!));
  expect(used.length).toBeGreaterThan(4);
  for (const name of used.filter((each) => !/^(split|unified)$/.test(each))) expect(shortcut(name).name).toBe(name);
  const written = sources.flatMap((text) => text.match(/<kbd>[^{↵]*<\/kbd>|title="Keys? [^{]/g) ?? []);
  expect(written).toEqual([]);
});

test("every view of the sidebar has a shortcut with its name", () => {
  const views = [...routes!.matchAll(/path: "([^"]+)"[^}]*?title: "([^"]+)"/g)].map(([, path, title]) => [path, title!.toLowerCase()]);
  expect(views.length).toBeGreaterThan(8);
  expect(SHORTCUTS.filter((each) => each.path !== undefined).map((each) => [each.path, each.description])).toEqual(expect.arrayContaining(views));
});

test("keys are shown in the words of the computer", () => {
  expect(keyLabels("Mod+k", false)).toEqual(["Ctrl", "K"]);
  expect(keyLabels("Mod+k", true)).toEqual(["⌘", "K"]);
  expect(keyLabels("g ,", false)).toEqual(["g", ","]);
  expect(keyLabels("Escape", false)).toEqual(["Esc"]);
});

test("a narrow place is part of all wider ones", () => {
  expect(scopesFrom("changes")).toEqual(["changes", "agent", "views", "everywhere"]);
  expect(scopesFrom("wait")).toEqual(["wait"]);
});

test("a name that is not in the table is an error", () => {
  expect(() => shortcut("nothing")).toThrow("No shortcut is called nothing.");
});
