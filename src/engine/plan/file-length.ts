import { inflateSync } from 'node:zlib';

/** Pages of a PDF or TIFF document; null for other formats, and if the file does not say it plainly. */
export function countPages(content: Buffer): number | null {
  const beginning = content.toString('latin1', 0, 5);
  if (beginning === '%PDF-') return countPdfPages(content);
  if (/^(?:II\*\0|MM\0\*)/.test(beginning)) return countTiffPages(content, beginning.startsWith('II'));
  return null;
}

/** Encrypted files, and files with several versions of their pages, do not say it plainly. */
function countPdfPages(content: Buffer): number | null {
  const text = content.toString('latin1');
  const objects = [text, ...objectStreams(text)].join('\n');
  const pages = objects.match(/\/Type\s*\/Page(?![a-zA-Z])/g)?.length ?? 0;
  let most = 0;
  for (const [, count] of objects.matchAll(/\/Count\s+(\d+)/g)) most = Math.max(most, Number(count));
  return pages > 0 && pages === most ? pages : null;
}

const maxStream = 4 * 1024 * 1024;

/** Since PDF 1.5 most objects are in compressed streams. The text is read once, whatever it has. */
function objectStreams(text: string): string[] {
  const streams: string[] = [];
  const next = (pattern: RegExp, from: number): number | undefined => {
    pattern.lastIndex = from;
    return pattern.test(text) ? pattern.lastIndex : undefined;
  };
  for (let at: number | undefined = 0; ; ) {
    at = next(/\/Type\s*\/ObjStm/g, at);
    const start: number | undefined = at === undefined ? undefined : next(/stream\r?\n/g, at);
    const end = start === undefined ? -1 : text.indexOf('endstream', start);
    if (end < 0) return streams;
    const inflated = inflate(text.slice(start, end));
    if (inflated !== undefined) streams.push(inflated);
    at = end;
  }
}

function inflate(packed: string): string | undefined {
  try {
    return inflateSync(Buffer.from(packed, 'latin1'), { maxOutputLength: maxStream }).toString('latin1');
  } catch {
    return undefined;
  }
}

const maxTiffPages = 10_000;

/** Each page is a directory that points to the next one. */
function countTiffPages(content: Buffer, littleEndian: boolean): number | null {
  const read16 = (at: number) => (littleEndian ? content.readUInt16LE(at) : content.readUInt16BE(at));
  const read32 = (at: number) => (littleEndian ? content.readUInt32LE(at) : content.readUInt32BE(at));
  try {
    let pages = 0;
    for (let at = read32(4); at !== 0 && pages < maxTiffPages; pages++) at = read32(at + 2 + 12 * read16(at));
    return pages > 0 && pages < maxTiffPages ? pages : null;
  } catch {
    // An offset outside of the file.
    return null;
  }
}

/** Whole seconds of a WAV recording; null for other formats. */
export function readSeconds(content: Buffer): number | null {
  if (content.toString('latin1', 0, 4) !== 'RIFF') return null;
  const [format, data] = [content.indexOf('fmt '), content.indexOf('data')];
  if (format < 0 || data < 0 || format + 20 > content.length) return null;
  const bytesPerSecond = content.readUInt32LE(format + 16);
  return bytesPerSecond === 0 ? null : Math.ceil((content.length - data - 8) / bytesPerSecond);
}
