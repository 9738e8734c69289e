// Markdown of agents and people, made harmless: HTML in it is shown as the text that it is, there is no picture (which
// would call a server), links lead only to the web, each apart from the page. What is left goes through DOMPurify.
import createDOMPurify from "dompurify";
import { Marked } from "marked";

const LARGEST = 60_000;
const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => ENTITIES[sign]!);

/** The headings of the page itself come before any that somebody wrote. */
const TOP_HEADING = 3;

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }) => escaped(text),
    image: ({ text, href }) => escaped(text || href),
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
