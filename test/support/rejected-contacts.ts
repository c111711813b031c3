import type pg from 'pg';
import type { RejectedContact } from '../../src/domain/contacts.ts';
import { formatReason } from '../../src/domain/reasons.ts';
import { listRejectedContacts } from '../../src/ledger/runs/rejected-contacts.ts';

/** Rejected contacts of a run, with formatted details. */
export async function rejectedContactsOf(pool: pg.Pool, run: string): Promise<RejectedContact[]> {
  const contacts = await listRejectedContacts(pool, run, { limit: 100 });
  return contacts.map(({ row, ...contact }) => ({ ...contact, detail: formatReason(contact.detail) }));
}
