// Renders untrusted Markdown as safe HTML: HTML in it is shown as text, images are not loaded (they would send requests
// to other servers), links open in a new tab and have only web and mail addresses. DOMPurify sanitizes the result. Hidden
// characters get marks after that, because an entity such as `&#x202E;` is a character only then.
import createDOMPurify from "dompurify";
import { Marked } from "marked";
import { makeVisible } from "./hidden-characters";
import { languageNamed } from "./highlight";

const MAX_LENGTH = 60_000;
const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escape = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character]!);

/** Headings in a text rank below those of the page. */
const TOP_HEADING = 3;

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }) => escape(text),
    code: ({ text, lang }) => `<pre data-language="${escape(languageNamed(lang ?? "") ?? "")}"><code>${escape(text)}</code></pre>\n`,
    image: ({ text, href }) => escape(text || href),
    heading({ tokens, depth }) {
      const level = Math.min(depth + TOP_HEADING - 1, 6);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`;
    },
  },
});
const purify = createDOMPurify(window);

const ALLOWED = {
  ALLOWED_TAGS: [
    "a", "b", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "i", "input", "li",
    "ol", "p", "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
  ],
  ALLOWED_ATTR: ["href", "title", "start", "type", "checked", "disabled", "align", "data-language"],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
};

purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer");
  }
  if (node.tagName === "INPUT") {
    node.setAttribute("type", "checkbox");
    node.setAttribute("disabled", "");
    node.setAttribute("aria-label", "task");
  }
  // Elements that scroll must be focusable.
  if (node.tagName === "PRE") node.setAttribute("tabindex", "0");
});

export function markdown(text: string): string {
  const shown = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  return render(shown).innerHTML;
}

function render(text: string): HTMLElement {
  const root = document.createElement("div");
  root.append(purify.sanitize(marked.parse(text, { async: false }), { ...ALLOWED, RETURN_DOM_FRAGMENT: true }));
  markHidden(root);
  for (const block of root.querySelectorAll("pre")) frame(block);
  for (const list of root.querySelectorAll("ol")) list.classList.add(`digits-${numberOfDigits(list)}`);
  return root;
}

/** Put a block of code into an element that has room for a button. */
function frame(block: HTMLElement): void {
  const element = document.createElement("div");
  element.className = "code-block";
  block.replaceWith(element);
  element.append(block);
}

/** How many digits the longest number of a list has, so that there is room for it. */
function numberOfDigits(list: HTMLOListElement): number {
  const last = list.start + list.children.length - 1;
  return Math.min(Math.max(`${list.start}`.length, `${last}`.length), 10);
}

/** Put marks in place of the hidden characters in all texts and attributes. */
function markHidden(root: HTMLElement): void {
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) node.nodeValue = makeVisible(node.nodeValue ?? "");
  for (const element of root.querySelectorAll("*")) {
    for (const { name, value } of element.attributes) element.setAttribute(name, makeVisible(value));
  }
}
