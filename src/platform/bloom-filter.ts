import { TextHash } from './text-hash.ts';

/** Bits: enough for ten million texts, of which one in five is then taken for one that came up before. */
const bits = 2 ** 25;

/**
 * Whether a text may have come up before, in a room that does not grow (4 MiB): a Bloom filter. What has come up is always
 * recognized; now and then something is that has not, so the caller is to look closely then.
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
