import { TextHash } from './text-hash.ts';

/** In bits. After ten million texts, one new text in five is reported as seen. */
const bits = 2 ** 25;

/**
 * A Bloom filter of 4 MiB. The returned function adds a text and says whether it may have been added before.
 * The caller must check such texts.
 */
export function createBloomFilter(): (text: string) => boolean {
  const words = new Uint32Array(bits / 32);
  const hash = new TextHash();
  const setBit = (bit: number): boolean => {
    const word = words[bit >>> 5] ?? 0;
    const mask = 1 << (bit & 31);
    words[bit >>> 5] = word | mask;
    return (word & mask) !== 0;
  };
  return (text) => {
    const { low, high } = hash.begin().add(text).finish();
    const first = setBit(low & (bits - 1));
    const second = setBit(high & (bits - 1));
    return first && second;
  };
}
