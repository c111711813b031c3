import { type AuditEntry, type AuditFilter, listAudit } from '../../ledger/audit/audit.ts';
import type { EngineContext } from '../context.ts';

/** Entries that are read at once. */
const page = 1_000;

/** The audit trail, newest first, in pages. */
export async function* readAudit(
  { ledger }: EngineContext,
  filter: AuditFilter,
): AsyncGenerator<readonly AuditEntry[], void, undefined> {
  let before = filter.before;
  for (;;) {
    const entries = await listAudit(ledger.pool, { ...filter, before }, page);
    if (entries.length > 0) yield entries;
    before = entries.at(-1)?.entry;
    if (entries.length < page) return;
  }
}
