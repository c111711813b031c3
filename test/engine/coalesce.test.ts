import { expect, test } from 'vitest';
import { coalesce } from '../../src/engine/coalesce.ts';

/** Commits that wait for `end`. Each result is its item twice. */
function commits() {
  const begun: { readonly items: readonly string[]; readonly end: (error?: Error) => void }[] = [];
  const commit = (items: readonly string[]): Promise<string[]> =>
    new Promise((resolve, reject) => {
      const end = (error?: Error): void =>
        error ? reject(error) : resolve(items.map((item) => item + item));
      begun.push({ items, end });
    });
  const nth = async (index: number) => {
    await expect.poll(() => begun.length).toBeGreaterThan(index);
    return begun[index] ?? { items: [], end: () => undefined };
  };
  return { commit, nth };
}

const each = (words: string): string[] => words.split(' ');

test('the first item is committed at once, and items that arrive meanwhile share the next commit', async () => {
  const { commit, nth } = commits();
  const hand = coalesce(commit, { maxBatch: 10, busyThreshold: 2 });
  const results = Promise.all(each('a b c').map(hand));
  expect((await nth(0)).items).toEqual(['a']);
  (await nth(0)).end();
  expect((await nth(1)).items).toEqual(['b', 'c']);
  (await nth(1)).end();
  expect(await results).toEqual(['aa', 'bb', 'cc']);
});

test('a failed commit fails all its items, and the next commit goes on', async () => {
  const { commit, nth } = commits();
  const hand = coalesce(commit, { maxBatch: 10, busyThreshold: 2 });
  const results = Promise.allSettled(each('a b c').map(hand));
  (await nth(0)).end(new Error('lost'));
  (await nth(1)).end(new Error('lost again'));
  expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  const later = hand('d');
  (await nth(2)).end();
  expect(await later).toBe('dd');
});

test('a commit has at most maxBatch items', async () => {
  const { commit, nth } = commits();
  const hand = coalesce(commit, { maxBatch: 2, busyThreshold: 2 });
  const results = Promise.all(each('a b c d').map(hand));
  for (const [index, items] of [['a'], ['b', 'c'], ['d']].entries()) {
    expect((await nth(index)).items).toEqual(items);
    (await nth(index)).end();
  }
  await results;
});

test('after a busy commit, the next one waits for more items', async () => {
  const { commit, nth } = commits();
  const hand = coalesce(commit, { maxBatch: 10, busyThreshold: 2 });
  const results = [hand('a'), hand('b'), hand('c')];
  (await nth(0)).end();
  (await nth(1)).end();
  await Promise.all(results);
  const later = [hand('d'), hand('e')];
  expect((await nth(2)).items).toEqual(['d', 'e']);
  (await nth(2)).end();
  await Promise.all(later);
});
