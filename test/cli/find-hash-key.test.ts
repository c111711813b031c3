import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hashKeyFinder } from '../../src/cli/open-context.ts';
import { ensureHashKey } from '../../src/platform/hash-key.ts';

test('a process that began without a key of hashes uses the key that another process makes later', async () => {
  const home = await mkdtemp(join(tmpdir(), 'volley-hash-key-'));
  const settings = { environment: { VOLLEY_HOME: home }, workingFolder: home };
  try {
    const find = hashKeyFinder(settings);
    expect(find()).toBeNull();
    ensureHashKey(settings.environment, home, (size) => Buffer.alloc(size, 7));
    const found = find();
    expect(found?.hash('sms', '+61412000001')).toHaveLength(32);
    expect(find()).toBe(found);
  } finally {
    await rm(home, { recursive: true });
  }
});
