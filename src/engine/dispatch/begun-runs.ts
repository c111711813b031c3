import type { BegunRun, ClaimMarks } from '../../domain/claim-marks.ts';
import type { Account } from '../../gateway/account.ts';
import { findMissingRuns, readIdentityOf } from '../../ledger/runs/repeats.ts';
import type { EngineContext } from '../context.ts';
import type { DispatchSettings } from './dispatch-settings.ts';

const day = 24 * 3_600_000;

/** Longer if the campaign refuses repetitions for longer. */
const keptFor = 31 * day;

/** Also the precision of `BegunRun.at`. */
const milliseconds = 60_000;

export function serviceOf({ baseUrl }: Pick<Account, 'baseUrl'>): string {
  return new URL(baseUrl).origin;
}

/** @returns notes outside of the ledger that a run is sent from this machine; call it before each slice is sent */
export function createBegunRunNotes({ ledger, now, monotonic }: EngineContext) {
  const notedAt = new Map<string, number>();

  return async (
    run: string,
    account: Account,
    { repeat }: Pick<DispatchSettings, 'repeat'>,
  ): Promise<void> => {
    if (monotonic() - (notedAt.get(run) ?? Number.NEGATIVE_INFINITY) < milliseconds) return;
    const identity = await readIdentityOf(ledger.pool, run);
    if (!identity) return;
    const at = now();
    const keptUntil = new Date(at.getTime() + Math.max(keptFor, repeat)).toISOString();
    ledger.marks.writeRun(
      { run, ...identity, service: serviceOf(account), at: at.toISOString(), keptUntil },
      at,
    );
    for (const [other, time] of notedAt) if (monotonic() - time >= milliseconds) notedAt.delete(other);
    notedAt.set(run, monotonic());
  };
}

/**
 * Runs that this machine has sent from, in any ledger with this VOLLEY_HOME, and that this ledger lacks. The newest
 * first.
 */
export async function findLostRuns(
  client: Parameters<typeof findMissingRuns>[0],
  marks: ClaimMarks,
  now: Date,
): Promise<readonly BegunRun[]> {
  const begun = marks.readRuns(now);
  const missing = await findMissingRuns(
    client,
    begun.map(({ run }) => run),
  );
  return begun.filter(({ run }) => missing.has(run));
}
