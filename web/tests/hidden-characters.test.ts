// Hidden characters as marks.
import { expect, test } from "vitest";
import { escapeHidden, makeVisible, markedParts, parseVisible } from "../src/lib/hidden-characters";

const shown = (text: string): string => markedParts(text).map((part) => part.text).join("");

test("each hidden character is a mark", () => {
  expect(markedParts("a\u202eb")).toEqual([
    { text: "a", isMark: false },
    { text: "⟦U+202E⟧", isMark: true },
    { text: "b", isMark: false },
  ]);
  expect(shown("\u001b[31m\u200b\u{e0041}\u0000\u2066")).toBe("⟦U+001B⟧[31m⟦U+200B⟧⟦U+E0041⟧⟦U+0000⟧⟦U+2066⟧");
  expect(shown("a\ufe0f\u200db")).toBe("a⟦U+FE0F⟧⟦U+200D⟧b");
});

test("line ends, tabs and emoji are not hidden characters", () => {
  for (const text of ["", "plain\ttext\r\n", "👩‍🚀 ❤️ 1️⃣", "naïve 日本語 مرحبا"]) expect(markedParts(text)).toEqual([{ text, isMark: false }]);
  expect(shown("over\rwritten")).toBe("over⟦U+000D⟧written");
});

test("a mark that replaced a character before is still a mark", () => {
  expect(markedParts(makeVisible("a\u202eb"))).toEqual(markedParts("a\u202eb"));
});

test("every string and name of a reply is marked", () => {
  const reply = { "na\u202eme": ["\u0007", { deep: "\ufeff" }], number: 7, nothing: null };
  const marked = { "na⟦U+202E⟧me": ["⟦U+0007⟧", { deep: "⟦U+FEFF⟧" }], number: 7, nothing: null };
  expect(parseVisible(JSON.stringify(reply))).toEqual(marked);
});

test("hidden characters in JSON can be edited", () => {
  const text = JSON.stringify({ command: "a\u202eb\u{e0041}" });
  expect(escapeHidden(text)).toBe('{"command":"a\\u202eb\\udb40\\udc41"}');
  expect(JSON.parse(escapeHidden(text))).toEqual(JSON.parse(text));
});
