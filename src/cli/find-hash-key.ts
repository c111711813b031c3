import type { Settings } from '../engine/settings.ts';
import { createHashKey, type HashKey } from '../ledger/suppressions/hash.ts';
import { readHashKey } from '../platform/hash-key.ts';

/** Reads the key until there is one: a purge in another process makes it. */
export function hashKeyFinder({ environment, workingFolder }: Settings): () => HashKey | null {
  let found: HashKey | null = null;
  return () => {
    if (found) return found;
    const secret = readHashKey(environment, workingFolder);
    found = secret ? createHashKey(secret) : null;
    return found;
  };
}
