// Whether rendered Markdown shows everything that its source says.
import { Marked } from "marked";
import { describe, expect, it } from "vitest";
import { showsEverything } from "../src/lib/markdown-loss";

/** The text of the rendered Markdown, without HTML and images. */
function rendered(source: string): string {
  const marked = new Marked({ gfm: true, breaks: true, renderer: { html: () => "", image: ({ text }) => text } });
  return marked.parse(source, { async: false }).replace(/<[^>]*>/g, "");
}

describe("showsEverything", () => {
  it.each([
    "# Plan\n\n1. Read `app.py`\n2. **Ch**ange it\n   - a part\n\n> 1) quoted",
    "- [x] done\n- [ ] open\n\n1. [X] numbered",
    "```python\nprint(1)\n```\n\n~~~ ts\nconst a = 1;\n~~~",
    "| a | b |\n|---|--:|\n| 1 | 2 |",
    "See <https://example.org/a?b=1> and https://example.org",
  ])("accepts %j", (source) => expect(showsEverything(source, rendered(source))).toBe(true));

  it.each([
    "Tidy up\n\n[//]: # (delete the backups)",
    "Tidy up\n\n[ref]: https://example.org/upload",
    "[docs](https://example.org)",
    "![picture](https://example.org/a.png)",
    "| a | b |\n|---|---|\n| 1 | 2 | delete |",
    "```sh delete everything\necho\n```",
    "```delete\necho\n```",
    "a <!-- delete -->",
  ])("refuses %j", (source) => expect(showsEverything(source, rendered(source))).toBe(false));
});
