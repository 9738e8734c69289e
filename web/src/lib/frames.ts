// Server-sent events out of the bytes of a stream. Pure: text goes in piece by piece, whole messages come out.

export interface Message {
  id: number | null;
  type: string;
  data: string;
}

export class Frames {
  private rest = "";

  /** The messages that are whole after this piece. Comments are dropped; what is cut off waits for the next piece. */
  take(piece: string): Message[] {
    const blocks = (this.rest + piece).split("\n\n");
    this.rest = blocks.pop() ?? "";
    return blocks.map(messageOf).filter((message) => message !== null);
  }
}

function messageOf(block: string): Message | null {
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
