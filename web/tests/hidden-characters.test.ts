// Hidden characters as marks.
import { expect, test } from "vitest";
import { markedParts } from "../src/lib/hidden-characters";

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
