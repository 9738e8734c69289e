// How well a text matches what was typed. Pure; upper and lower case are the same.

export const NO_MATCH = 0;
/** The letters occur in this order, with others between them. */
export const WEAK_MATCH = 1;
export const MATCH_WITHIN = 2;
const START_OF_WORD = 3;
const START_OF_TEXT = 4;

/** Every typed word must match: the result is that of the worst one. */
export function matchScore(typed: string, text: string): number {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const lower = text.toLowerCase();
  return Math.min(START_OF_TEXT, ...words.map((word) => wordScore(word, lower)));
}

function wordScore(word: string, text: string): number {
  if (text.startsWith(word)) return START_OF_TEXT;
  const starts = text.split(/[^\p{L}\p{N}]+/u).some((each) => each.startsWith(word));
  if (starts) return START_OF_WORD;
  if (text.includes(word)) return MATCH_WITHIN;
  return hasLettersInOrder(word, text) ? WEAK_MATCH : NO_MATCH;
}

function hasLettersInOrder(word: string, text: string): boolean {
  let at = -1;
  return [...word].every((letter) => (at = text.indexOf(letter, at + 1)) !== -1);
}
