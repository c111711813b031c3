/**
 * Text that comes in pieces, seen line by line: LF, CRLF and CR each end a line, mixed as they may be. What lies before
 * `position` is forgotten when the next piece comes.
 */
export class TextLines {
  text = '';
  /** Where the line begins that is read next. */
  position = 0;
  /** Its number, from 1. */
  line = 1;
  /** No more text will come. */
  ended = false;

  // Where the next one of each character is, looked for only once: at or after the last place that was asked for.
  private lineFeed = -1;
  private carriageReturn = -1;
  private quote = -1;

  append(piece: string): void {
    this.text = this.text.slice(this.position) + piece;
    this.position = 0;
    this.resetSearch();
  }

  /** Where the line ends that goes on at `start`, without its line end; the end of the text, where there is none yet. */
  endOfLine(start: number): number {
    if (this.lineFeed < start) this.lineFeed = this.find('\n', start);
    if (this.carriageReturn < start) this.carriageReturn = this.find('\r', start);
    return this.lineFeed < this.carriageReturn ? this.lineFeed : this.carriageReturn;
  }

  /** Whether a line that ends there is there as a whole: a CR may be half of a CRLF. */
  isWhole(end: number): boolean {
    if (this.ended) return true;
    const { length } = this.text;
    return end < length - 1 || (end < length && this.text.charCodeAt(end) === lineFeed);
  }

  /** Where the line after it begins. */
  startAfter(end: number): number {
    const { text } = this;
    const isCrLf = text.charCodeAt(end) === carriageReturn && text.charCodeAt(end + 1) === lineFeed;
    return Math.min(end + (isCrLf ? 2 : 1), text.length);
  }

  /** Whether there is a quote in a part of the text. */
  hasQuote(start: number, end: number): boolean {
    if (this.quote < start) this.quote = this.find('"', start);
    return this.quote < end;
  }

  /** Whether the quotes in a part of the text come in pairs. */
  quotesArePaired(start: number, end: number): boolean {
    const { text } = this;
    let paired = true;
    for (let index = start; index < end; index++) if (text.charCodeAt(index) === quote) paired = !paired;
    return paired;
  }

  /** Goes on behind a line, or behind several that end there. */
  advance(end: number, lines = 1): void {
    this.position = this.startAfter(end);
    this.line += lines;
  }

  /** Goes back to a line that has not been forgotten. */
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

/** How many lines end in a text. */
export function countLineEnds(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}
