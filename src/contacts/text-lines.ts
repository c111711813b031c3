/**
 * Reads text in pieces line by line; LF, CRLF and CR end a line, even mixed. Text before `position` is dropped with
 * the next piece.
 */
export class TextLines {
  text = '';
  position = 0;
  /** Its number, from 1. */
  line = 1;
  ended = false;

  // The next occurrence of each character at or after the last offset searched, so that each is searched once.
  private lineFeed = -1;
  private carriageReturn = -1;
  private quote = -1;

  append(piece: string): void {
    this.text = this.text.slice(this.position) + piece;
    this.position = 0;
    this.resetSearch();
  }

  /** The end of the line that contains `start`, without its line end; the end of the text if it has none yet. */
  endOfLine(start: number): number {
    if (this.lineFeed < start) this.lineFeed = this.find('\n', start);
    if (this.carriageReturn < start) this.carriageReturn = this.find('\r', start);
    return this.lineFeed < this.carriageReturn ? this.lineFeed : this.carriageReturn;
  }

  /** Whether the line up to `end` is complete: a CR can be half of a CRLF. */
  isWhole(end: number): boolean {
    if (this.ended) return true;
    const { length } = this.text;
    return end < length - 1 || (end < length && this.text.charCodeAt(end) === lineFeed);
  }

  startAfter(end: number): number {
    const { text } = this;
    const isCrLf = text.charCodeAt(end) === carriageReturn && text.charCodeAt(end + 1) === lineFeed;
    return Math.min(end + (isCrLf ? 2 : 1), text.length);
  }

  hasQuote(start: number, end: number): boolean {
    if (this.quote < start) this.quote = this.find('"', start);
    return this.quote < end;
  }

  quotesArePaired(start: number, end: number): boolean {
    const { text } = this;
    let paired = true;
    for (let index = start; index < end; index++) if (text.charCodeAt(index) === quote) paired = !paired;
    return paired;
  }

  /** Continues after a line, or after the last of several. */
  advance(end: number, lines = 1): void {
    this.position = this.startAfter(end);
    this.line += lines;
  }

  /** Goes back to a line that has not been dropped. */
  goBack(position: number, line: number): void {
    this.position = position;
    this.line = line;
    this.resetSearch();
  }

  private find(character: string, start: number): number {
    const found = this.text.indexOf(character, start);
    return found < 0 ? this.text.length : found;
  }

  private resetSearch(): void {
    this.lineFeed = -1;
    this.carriageReturn = -1;
    this.quote = -1;
  }
}

const lineFeed = 10;
const carriageReturn = 13;
const quote = 34;

export function countLineEnds(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}
