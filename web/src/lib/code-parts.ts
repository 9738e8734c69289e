// The text of a line of code in parts: highlighted tokens, and marks of hidden characters. Pure.
import { markedParts } from "./hidden-characters";
import type { Token, TokenKind } from "./highlight";

export interface CodePart {
  text: string;
  kind: TokenKind | "mark" | null;
}

/** Few parts are fast to render, so plain tokens are not split. */
export function codeParts(text: string, tokens: Token[] | null): CodePart[] {
  const marked = markedParts(text);
  if (!marked.some((part) => part.isMark)) return tokens ?? [{ text, kind: null }];
  return (tokens ?? [{ text, kind: null }]).flatMap((token) =>
    markedParts(token.text).map((part): CodePart => ({ text: part.text, kind: part.isMark ? "mark" : token.kind })),
  );
}
