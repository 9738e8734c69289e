// The source text of Markdown keeps every character.
import { describe, expect, it } from "vitest";
import { sourceParts } from "../src/lib/markdown-source";

describe("sourceParts", () => {
  it.each([
    "1. Run rm -rf src/*.o lib/*.o\n2. Then rm -rf /*.bak /home/*.bak\n3. keep _build_ and __init__",
    "# Plan\n\n1. Read `app.py`\n2. **Ch**ange it\n   - a part\n\n> 1) quoted\n",
    "```sh delete\necho\n``` not the end\n~~~\n```\nafter",
    "Tidy up\n\n[//]: # (delete the backups)\n[ref]: https://example.org 'x'\n\\* \\_ &#x202E; <!-- delete -->",
    "``a ` b`` ** not strong ** **strong** *** `open\r\n\t- x",
    "",
    "\n\n",
  ])("keeps all of %j", (text) => expect(sourceParts(text).map((part) => part.text).join("")).toBe(text));

  it("marks headings, lists, code and strong text", () => {
    expect(sourceParts("# Plan\n- run `a*b` **now**\n```\n# code\n```\nend")).toEqual([
      { text: "# Plan\n", kind: "heading" },
      { text: "-", kind: "marker" },
      { text: " run ", kind: null },
      { text: "`a*b`", kind: "code" },
      { text: " ", kind: null },
      { text: "**now**", kind: "strong" },
      { text: "\n", kind: null },
      { text: "```\n# code\n```\n", kind: "code" },
      { text: "end", kind: null },
    ]);
  });
});
