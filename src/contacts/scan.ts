/** Physical lines, and the records that quotes make of several of them. What is in a record is not looked at. */

/** The most characters of a record. A quote that is never closed would otherwise take the whole file for one value. */
export const longestRecord = 1_048_576;

/** A stretch of text that is one record, or, where no record can be found, one line. Offsets are into `Scanner.text`. */
export type Scanned = {
  readonly kind: 'plain' | 'quoted' | 'unclosed' | 'long';
  readonly line: number;
  readonly start: number;
  readonly end: number;
  /** Physical lines of a record; more than one only with quotes. */
  readonly lines: number;
};

/**
 * Finds records in a text that comes in pieces, by the number of quotes: a line end within an odd number of them stands
 * in a value. A piece never ends between CR and LF.
 */
export class Scanner {
  text = '';
  /** Number of the line that is read next, from 1. */
  line = 1;
  #position = 0;
  #isLast = false;
  /** Places of the next quote and the next CR; never before the position, except before they are looked for. */
  #quote = -1;
  #carriageReturn = -1;

  /** Whether no more text comes. */
  get isLast(): boolean {
    return this.#isLast;
  }

  /** Goes on with another piece; offsets of what was scanned before are void. */
  add(piece: string, isLast: boolean): void {
    this.text = this.#position < this.text.length ? this.text.slice(this.#position) + piece : piece;
    this.#isLast = isLast;
    this.#moveTo(0);
  }

  /** The next record, or undefined when more text is needed for one, or the text is at its end. */
  next(): Scanned | undefined {
    const { text } = this;
    const start = this.#position;
    const end = this.#endOfLine(start);
    if (end === undefined || start >= text.length) return undefined;
    if (this.#quote < start) this.#quote = placeOf(text, '"', start);
    if (this.#quote >= end) return this.#take('plain', start, end, 1);
    return this.#nextQuoted(start, end);
  }

  /** Goes back to the line after the first of a record that turned out to be none. */
  retryAfterFirstLine({ start, line }: Scanned): { readonly end: number } {
    const end = this.#endOfLine(start) ?? this.text.length;
    this.#moveTo(this.#startAfter(end));
    this.line = line + 1;
    return { end };
  }

  #nextQuoted(start: number, firstEnd: number): Scanned | undefined {
    const { text } = this;
    let end: number | undefined = firstEnd;
    let lines = 1;
    let quote = this.#quote;
    for (let isOpen = false; ; lines++) {
      for (; quote < end; quote = placeOf(text, '"', quote + 1)) isOpen = !isOpen;
      if (end - start > longestRecord) return this.#take('long', start, firstEnd, 1);
      if (!isOpen) return this.#take('quoted', start, end, lines);
      const nextStart: number = this.#startAfter(end);
      if (end >= text.length || nextStart >= text.length) {
        if (this.#isLast) return this.#take('unclosed', start, firstEnd, 1);
        return text.length - start > longestRecord ? this.#take('long', start, firstEnd, 1) : undefined;
      }
      end = this.#endOfLine(nextStart);
      if (end === undefined) {
        return text.length - start > longestRecord ? this.#take('long', start, firstEnd, 1) : undefined;
      }
    }
  }

  #take(kind: Scanned['kind'], start: number, end: number, lines: number): Scanned {
    const { line } = this;
    this.#moveTo(this.#startAfter(end));
    this.line += lines;
    return { kind, line, start, end, lines };
  }

  #moveTo(position: number): void {
    // Going back makes what is known of the text after the old place useless.
    if (position < this.#position || position === 0) {
      this.#quote = -1;
      this.#carriageReturn = -1;
    }
    this.#position = position;
  }

  /** Where the line that begins here ends; undefined when its end has not come yet. */
  #endOfLine(start: number): number | undefined {
    const { text } = this;
    if (this.#carriageReturn < start) this.#carriageReturn = placeOf(text, '\r', start);
    const lineFeed = text.indexOf('\n', start);
    const end = lineFeed < 0 ? this.#carriageReturn : Math.min(lineFeed, this.#carriageReturn);
    if (end < text.length) return end;
    return this.#isLast ? text.length : undefined;
  }

  #startAfter(end: number): number {
    return this.text[end] === '\r' && this.text[end + 1] === '\n' ? end + 2 : end + 1;
  }
}

/** Where a character comes next, or a place after every text. */
function placeOf(text: string, character: string, from: number): number {
  const place = text.indexOf(character, from);
  return place < 0 ? Number.POSITIVE_INFINITY : place;
}
