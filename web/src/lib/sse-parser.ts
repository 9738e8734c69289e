// Parses server-sent events. Text is pushed in chunks of any size; complete messages are returned.

export interface SseMessage {
  id: number | null;
  type: string;
  data: string;
}

export class SseParser {
  private rest = "";

  /** The messages that this chunk completes. Comments are dropped. */
  push(chunk: string): SseMessage[] {
    const blocks = (this.rest + chunk).split("\n\n");
    this.rest = blocks.pop() ?? "";
    return blocks.map(parseMessage).filter((message) => message !== null);
  }
}

function parseMessage(block: string): SseMessage | null {
  const fields: Record<string, string> = {};
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon < 1) continue;
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, "");
    fields[name] = name === "data" && fields.data !== undefined ? `${fields.data}\n${value}` : value;
  }
  if (fields.data === undefined) return null;
  const id = fields.id === undefined ? null : Number(fields.id);
  return { id, type: fields.event ?? "message", data: fields.data };
}
