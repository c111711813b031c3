import { InputError } from '../domain/problems.ts';
import { type AuditAct, noteAudit } from '../ledger/audit/note.ts';
import type { Alongside } from '../ledger/connection.ts';
import { withoutAddresses } from '../platform/logger.ts';
import type { EngineContext } from './context.ts';

/** Writes what was done into the audit trail, in the transaction that does it. */
export type Note = Alongside;

export function noteOf({ actor, now }: Pick<EngineContext, 'actor' | 'now'>, act: AuditAct): Note {
  return (client) => noteAudit(client, actor, cleaned(act), 'done', now());
}

/**
 * Does what an audit entry tells of. What is refused is told too, with why: somebody wanted it.
 *
 * @param work is given what writes the entry, for its own transaction
 */
export async function audited<Result>(
  context: EngineContext,
  act: AuditAct,
  work: (note: Note) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(noteOf(context, act));
  } catch (error) {
    if (error instanceof InputError)
      await noteRefused(
        context,
        act,
        error.problems.map(({ where, what }) => `${where}: ${what}`).join('\n'),
      );
    throw error;
  }
}

/** Writes into the audit trail that an act was asked for and was not done, with why. */
export async function noteRefused(context: EngineContext, act: AuditAct, why: string): Promise<void> {
  const refused = { ...act, details: { ...act.details, why } };
  await noteAudit(context.ledger.pool, context.actor, cleaned(refused), 'refused', context.now());
}

/** Details that name a person of ours, which may be written `user@host`. */
const persons = new Set(['by', 'owner']);

/** Words of people may quote anything. */
function cleaned({ details = {}, ...act }: AuditAct): AuditAct {
  const clean = Object.entries(details).map(([name, value]) => [
    name,
    typeof value === 'string' && !persons.has(name) ? withoutAddresses(value).slice(0, mostWords) : value,
  ]);
  return { ...act, details: Object.fromEntries(clean) };
}

/** Of one text (characters). */
const mostWords = 2_000;
