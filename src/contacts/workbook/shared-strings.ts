import { createXmlParser, longText, XmlError } from './xml-parser.ts';

/** Bytes of all texts together, which are in memory while a sheet is read. */
const maxSize = 512 * 1024 * 1024;
/** Texts, each with four bytes more. */
const maxTexts = 32 * 1024 * 1024;

export type SharedStrings = {
  readonly textOf: (number: number) => string | undefined;
  readonly complete: boolean;
};

export const noStrings: SharedStrings = { textOf: () => undefined, complete: true };

/**
 * Reads the texts that cells share. They are held as bytes: as JavaScript strings, a million short texts would need
 * four times the memory.
 *
 * @param size of the part in bytes
 * @param limit texts after which reading stops
 * @throws XmlError
 */
export async function readSharedStrings(
  part: AsyncIterable<Buffer>,
  size: number,
  limit: number,
): Promise<SharedStrings> {
  const texts = new TextStore(size);
  const reader = createStringReader((text) => texts.add(text));
  const parser = createXmlParser({
    open: (name) => (name === 'si' ? reader.begin() : reader.open(name)),
    close: (name) => (name === 'si' ? reader.end() : reader.close(name)),
    text: (text) => reader.text(text),
  });
  const textOf = (number: number): string | undefined => texts.get(number);
  for await (const bytes of part) {
    parser.write(bytes);
    if (texts.count >= limit) return { textOf, complete: false };
  }
  parser.end();
  return { textOf, complete: true };
}

/** Adds up the runs of a rich text; leaves out how it is pronounced. */
export function createStringReader(done: (text: string) => void) {
  let whole = '';
  let inText = false;
  let inPhonetic = false;
  return {
    begin: (): void => {
      whole = '';
    },
    open: (name: string): void => {
      if (name === 't') inText = !inPhonetic;
      else if (name === 'rPh') inPhonetic = true;
    },
    close: (name: string): void => {
      if (name === 't') inText = false;
      else if (name === 'rPh') inPhonetic = false;
    },
    text: (text: string): void => {
      if (!inText) return;
      whole += text;
      if (whole.length > 1_048_576) throw new XmlError(longText);
    },
    end: (): void => done(unescapeCodes(whole)),
  };
}

/** Spreadsheets write characters that XML forbids as _x000D_, and an underscore before such a text as _x005F_. */
function unescapeCodes(text: string): string {
  return text.includes('_x')
    ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      )
    : text;
}

class TextStore {
  private bytes: Buffer;
  private ends = new Uint32Array(1024);
  private size = 0;
  count = 0;

  /** @param expected bytes; the XML is always larger than its texts */
  constructor(expected: number) {
    this.bytes = Buffer.allocUnsafeSlow(Math.min(expected, 1_048_576));
  }

  add(text: string): void {
    const needed = this.size + Buffer.byteLength(text);
    if (needed > maxSize || this.count === maxTexts)
      throw new XmlError('its different texts need more than 512 MiB; save the sheet as "CSV UTF-8"');
    if (needed > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(maxSize, Math.max(needed, this.bytes.length * 2)));
      this.bytes.copy(larger, 0, 0, this.size);
      this.bytes = larger;
    }
    if (this.count === this.ends.length) {
      const more = new Uint32Array(this.ends.length * 2);
      more.set(this.ends);
      this.ends = more;
    }
    this.size += this.bytes.write(text, this.size);
    this.ends[this.count++] = this.size;
  }

  get(number: number): string | undefined {
    const end = number < this.count ? this.ends[number] : undefined;
    if (end === undefined) return undefined;
    return this.bytes.toString('utf8', number === 0 ? 0 : this.ends[number - 1], end);
  }
}
