import { createHash } from 'node:crypto';
import type { RejectionDetail } from '../../domain/reasons.ts';
import { type LeftOutDigest, type LeftOutGroup, leftOutGroups } from '../../domain/rejected-contacts.ts';

/** In a preview: the digest that `ledger/planning/digest-left-out.ts` makes in a run. */
export function createLeftOutDigest() {
  const hash = createHash('sha256');
  const counts: Partial<Record<LeftOutGroup, number>> = {};
  let separator = '';
  return {
    /** @param line counted over all files; ascending */
    add(line: number, detail: RejectionDetail): void {
      // The import rejects such a row, and counts it as invalid.
      if (typeof detail === 'string') return;
      const group = leftOutGroups[detail.kind];
      counts[group] = (counts[group] ?? 0) + 1;
      hash.update(`${separator}${line} ${group}`);
      separator = ',';
    },
    digest: (): LeftOutDigest => ({ counts, sha256: hash.copy().digest('hex') }),
  };
}
