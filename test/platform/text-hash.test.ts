import { expect, test } from 'vitest';
import { TextHash } from '../../src/platform/text-hash.ts';

const text = new TextHash();
const hashOf = (...parts: readonly string[]): string => {
  text.begin();
  for (const part of parts) text.add(part);
  const { low, high } = text.finish();
  return `${low} ${high}`;
};

test('similar numbers, similar names and differently divided texts have different hashes', () => {
  const hashes = new Set<string>();
  let texts = 0;
  for (let number = 0; number < 100_000; number++, texts += 3) {
    const address = `+614${String(number).padStart(8, '0')}`;
    hashes
      .add(hashOf(address, 'Ann'))
      .add(hashOf(address, 'Ann', ''))
      .add(hashOf(`${address}A`, 'nn'));
  }
  expect(hashes.size).toBe(texts);
});

test('a change of one character flips each bit of the hash in half of the cases', () => {
  const changed = Array.from({ length: 64 }, () => 0);
  const rounds = 4_000;
  for (let round = 0; round < rounds; round++) {
    const one = text.begin().add(`user${round}@example.com`).finish();
    const [low, high] = [one.low, one.high];
    const other = text.begin().add(`uses${round}@example.com`).finish();
    for (let bit = 0; bit < 32; bit++) {
      changed[bit] = (changed[bit] ?? 0) + (((low ^ other.low) >>> bit) & 1);
      changed[32 + bit] = (changed[32 + bit] ?? 0) + (((high ^ other.high) >>> bit) & 1);
    }
  }
  for (const count of changed) {
    expect(count).toBeGreaterThan(rounds * 0.45);
    expect(count).toBeLessThan(rounds * 0.55);
  }
});
