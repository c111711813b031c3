import { InputError, type Problem } from '../domain/problems.ts';
import {
  type AuditEntry,
  type AuditEvent,
  type AuditFilter,
  addAuditEntry,
  addAuditEntryOnce,
  listAudit,
} from '../ledger/audit/audit.ts';
import { type Alongside, inTransaction } from '../ledger/session.ts';
import { maskAddresses } from '../platform/mask-addresses.ts';
import type { EngineContext } from './context.ts';

export function auditEntry(
  { actor, now }: Pick<EngineContext, 'actor' | 'now'>,
  event: AuditEvent,
): Alongside {
  return (client) => addAuditEntry(client, actor, withoutAddressesIn(event), { outcome: 'done', at: now() });
}

/** @returns false if the actor has an entry that says the same */
export async function auditOnce(
  { ledger, actor, now }: Pick<EngineContext, 'ledger' | 'actor' | 'now'>,
  event: AuditEvent,
): Promise<boolean> {
  return inTransaction(ledger.pool, (client) =>
    addAuditEntryOnce(client, actor, withoutAddressesIn(event), now()),
  );
}

/**
 * A refused event has an entry too, with the reason.
 *
 * @param work gets a function that writes the entry in its transaction
 */
export async function audited<Result>(
  context: EngineContext,
  event: AuditEvent,
  work: (writeEntry: Alongside) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(auditEntry(context, event));
  } catch (error) {
    if (error instanceof InputError) await recordRefusal(context, event, error.problems);
    throw error;
  }
}

export async function recordRefusal(
  { ledger, actor, now }: EngineContext,
  event: AuditEvent,
  problems: readonly Problem[],
): Promise<void> {
  const texts = problems.map(({ where, what, userNames = [] }) =>
    maskAddresses(`${where}: ${what}`, [actor.name, ...userNames]),
  );
  const { details, ...refused } = withoutAddressesIn(event);
  const why = texts.join('\n').slice(0, maxTextLength);
  await addAuditEntry(
    ledger.pool,
    actor,
    { ...refused, details: { ...details, why } },
    { outcome: 'refused', at: now() },
  );
}

/** Details with names of operators, which may look like `user@host`. */
const personDetails = new Set(['by', 'owner']);

/** Free text may quote an address. */
function withoutAddressesIn({ details = {}, ...event }: AuditEvent): AuditEvent {
  const clean = Object.entries(details).map(([name, value]) => [
    name,
    typeof value === 'string' && !personDetails.has(name)
      ? maskAddresses(value).slice(0, maxTextLength)
      : value,
  ]);
  return { ...event, details: Object.fromEntries(clean) };
}

const maxTextLength = 2_000;

const pageSize = 1_000;

/** Newest first, in pages. */
export async function* readAudit(
  { ledger }: EngineContext,
  filter: AuditFilter,
): AsyncGenerator<readonly AuditEntry[], void, undefined> {
  let before = filter.before;
  for (;;) {
    const entries = await listAudit(ledger.pool, { ...filter, before }, pageSize);
    if (entries.length > 0) yield entries;
    before = entries.at(-1)?.entry;
    if (entries.length < pageSize) return;
  }
}
