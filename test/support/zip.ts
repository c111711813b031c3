import { inflateRawSync } from 'node:zlib';

/** A file in a ZIP archive, with its time as stored. */
export type ZipPart = { readonly text: string; readonly dosTime: number; readonly dosDate: number };

/** Reads a ZIP archive without ZIP64 by its central directory. */
export function zipParts(zip: Buffer): ReadonlyMap<string, ZipPart> {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06'));
  let at = zip.readUInt32LE(end + 16);
  const parts = new Map<string, ZipPart>();
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [method, dosTime, dosDate] = [10, 12, 14].map((offset) => zip.readUInt16LE(at + offset));
    const [nameLength = 0, extraLength = 0, commentLength = 0] = [28, 30, 32].map((offset) =>
      zip.readUInt16LE(at + offset),
    );
    const size = zip.readUInt32LE(at + 20);
    const local = zip.readUInt32LE(at + 42);
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const stored = zip.subarray(start, start + size);
    const bytes = method === 8 ? inflateRawSync(stored) : stored;
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength);
    parts.set(name, { text: bytes.toString(), dosTime: dosTime ?? -1, dosDate: dosDate ?? -1 });
    at += 46 + nameLength + extraLength + commentLength;
  }
  return parts;
}
