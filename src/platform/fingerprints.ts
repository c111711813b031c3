import { hash } from 'node:crypto';

/**
 * Maps millions of texts to two numbers each, with 8 bytes per text. Phone numbers are exact; among five
 * million other texts, two collide with a probability of one in a million.
 *
 * Uses extendible hashing: the table grows bucket by bucket, and never needs a second copy.
 */
type FingerprintMap = {
  /** Adds two numbers, the first above 0, or returns those of the existing entry. */
  readonly add: (text: string, first: number, second: number) => readonly [number, number] | undefined;
  /** Increments the first number, and returns its former value (0 if new). */
  readonly increment: (text: string) => number;
  readonly bytes: () => number;
};

/** 32-bit words of an entry: two of the fingerprint, two of the value. */
const wordsPerEntry = 4;
const bucketEntries = 32;
const bucketWords = wordsPerEntry * bucketEntries;
const pageBuckets = 512;

type Found = { readonly page: Uint32Array; readonly at: number; readonly isNew: boolean };

export function createFingerprintMap(): FingerprintMap {
  const pages = createPages();
  /** Buckets by the first `depth` bits of a hash. */
  let directory = new Uint32Array(1);
  let depth = 0;
  /** For each bucket: the number of hash bits that its entries share, and its number of entries. */
  const depths: number[] = [0];
  const entryCounts: number[] = [0];

  const slotOf = (hashed: number): number => (depth === 0 ? 0 : hashed >>> (32 - depth));

  /** Moves half of a full bucket into a new one, by the first differing bit. */
  const split = (bucket: number, hashed: number): void => {
    const shared = depths[bucket] ?? 0;
    if (shared === depth) {
      directory = doubleDirectory(directory);
      depth++;
    }
    const other = depths.length;
    depths.push(shared + 1);
    depths[bucket] = shared + 1;
    entryCounts.push(0);
    const slots = 2 ** (depth - shared);
    const firstSlot = Math.floor(slotOf(hashed) / slots) * slots;
    directory.fill(other, firstSlot + slots / 2, firstSlot + slots);

    const kept = moveEntries(pages.locate(bucket), pages.locate(other), shared);
    entryCounts[bucket] = kept;
    entryCounts[other] = bucketEntries - kept;
  };

  const find = (text: string): Found => {
    const [low, high] = fingerprint(text);
    const hashed = mix(low, high);
    for (;;) {
      const bucket = directory[slotOf(hashed)] ?? 0;
      const { page, start } = pages.locate(bucket);
      const entries = entryCounts[bucket] ?? 0;
      const end = start + entries * wordsPerEntry;
      for (let at = start; at < end; at += wordsPerEntry)
        if (page[at] === low && page[at + 1] === high) return { page, at, isNew: false };
      if (entries === bucketEntries) {
        split(bucket, hashed);
        continue;
      }
      entryCounts[bucket] = entries + 1;
      page[end] = low;
      page[end + 1] = high;
      return { page, at: end, isNew: true };
    }
  };
  return {
    add(text, first, second) {
      const { page, at, isNew } = find(text);
      if (!isNew) return [page[at + 2] ?? 0, page[at + 3] ?? 0];
      page[at + 2] = first;
      page[at + 3] = second;
      return undefined;
    },
    increment(text) {
      const { page, at, isNew } = find(text);
      const before = isNew ? 0 : (page[at + 2] ?? 0);
      page[at + 2] = before + 1;
      return before;
    },
    bytes: () => pages.bytes() + directory.byteLength,
  };
}

function doubleDirectory(directory: Uint32Array): Uint32Array<ArrayBuffer> {
  const doubled = new Uint32Array(directory.length * 2);
  for (let slot = 0; slot < doubled.length; slot++) doubled[slot] = directory[slot >>> 1] ?? 0;
  return doubled;
}

function createPages() {
  const pages: Uint32Array[] = [];
  return {
    locate(bucket: number): BucketStart {
      const number = Math.floor(bucket / pageBuckets);
      const page = pages[number] ?? new Uint32Array(pageBuckets * bucketWords);
      pages[number] = page;
      return { page, start: (bucket % pageBuckets) * bucketWords };
    },
    bytes: () => pages.length * pageBuckets * bucketWords * 4,
  };
}

type BucketStart = { readonly page: Uint32Array; readonly start: number };

/**
 * Moves the entries of a full bucket whose hash has a 1 behind the `shared` bits.
 *
 * @returns the number of entries that stay
 */
function moveEntries(from: BucketStart, to: BucketStart, shared: number): number {
  let [kept, moved] = [0, 0];
  for (let entry = 0; entry < bucketEntries; entry++) {
    const source = from.start + entry * wordsPerEntry;
    const isMoved = ((mix(from.page[source] ?? 0, from.page[source + 1] ?? 0) >>> (31 - shared)) & 1) === 1;
    const [page, target] = isMoved
      ? [to.page, to.start + moved++ * wordsPerEntry]
      : [from.page, from.start + kept++ * wordsPerEntry];
    for (let word = 0; word < wordsPerEntry; word++) page[target + word] = from.page[source + word] ?? 0;
  }
  return kept;
}

/** Spreads similar values: neighbouring phone numbers differ in few bits. */
function mix(low: number, high: number): number {
  let mixed = Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** The highest bit marks a digest. */
function fingerprint(text: string): readonly [number, number] {
  if (/^\+[1-9]\d{1,14}$/.test(text)) {
    const number = Number(text);
    return [number % 2 ** 32, Math.floor(number / 2 ** 32)];
  }
  const digest = hash('sha256', text, 'buffer');
  return [digest.readUInt32LE(0), (digest.readUInt32LE(4) | 0x8000_0000) >>> 0];
}
