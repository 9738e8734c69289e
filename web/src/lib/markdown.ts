// Markdown of agents and people, made harmless: no script, no style, no frame, no picture (which would call a server),
// links only to the web, each opened apart from the page.
import createDOMPurify from "dompurify";
import { Marked } from "marked";

const LARGEST = 60_000;
const marked = new Marked({ gfm: true, breaks: true });
const purify = createDOMPurify(window);

const ALLOWED = {
  ALLOWED_TAGS: [
    "a", "b", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "input", "li",
    "ol", "p", "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
  ],
  ALLOWED_ATTR: ["href", "title", "start", "type", "checked", "disabled", "align"],
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
  // What scrolls must be reachable by the keyboard.
  if (node.tagName === "PRE") node.setAttribute("tabindex", "0");
});

export function markdown(text: string): string {
  const shown = text.length > LARGEST ? `${text.slice(0, LARGEST)}…` : text;
  return purify.sanitize(marked.parse(shown, { async: false }), ALLOWED);
}
