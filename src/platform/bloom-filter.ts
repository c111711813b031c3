import { TextHash } from './text-hash.ts';

/** In bits. After ten million texts, one new text in five is reported as seen. */
const bits = 2 ** 25;
/** Pages of 4 KiB. */
const pageBits = 2 ** 15;
/** Distance of a page's number within a bit's. */
const pageShift = Math.log2(pageBits);

/**
 * A Bloom filter of 4 MiB, of which a short list takes a few pages. The returned function adds a text and says whether
 * it may have been added before. The caller must check such texts.
 */
export function createBloomFilter(): (text: string) => boolean {
  const pages = Array.from<Uint32Array | undefined>({ length: bits / pageBits });
  const hash = new TextHash();
  const setBit = (bit: number): boolean => {
    let page = pages[bit >>> pageShift];
    if (page === undefined) page = pages[bit >>> pageShift] = new Uint32Array(pageBits / 32);
    const place = (bit & (pageBits - 1)) >>> 5;
    const word = page[place] ?? 0;
    const mask = 1 << (bit & 31);
    page[place] = word | mask;
    return (word & mask) !== 0;
  };
  return (text) => {
    const { low, high } = hash.begin().add(text).finish();
    const first = setBit(low & (bits - 1));
    const second = setBit(high & (bits - 1));
    return first && second;
  };
}
