import type pg from 'pg';
import {
  type ListedRecipient,
  listRecipients,
  type RecipientsOfRun,
} from '../../src/ledger/runs/list-recipients.ts';

/** All of the list, read in pages of this size. */
export async function readRecipients(
  pool: pg.Pool,
  wanted: RecipientsOfRun,
  limit = 2,
): Promise<ListedRecipient[]> {
  const found: ListedRecipient[] = [];
  for (;;) {
    const page = await listRecipients(pool, wanted, { after: found.at(-1), limit });
    found.push(...page);
    if (page.length < limit) return found;
  }
}
