import { LRUCache } from 'lru-cache';
import type { Check } from '../../domain/doctor.ts';
import type { EngineContext } from '../context.ts';
import type { Settings } from '../settings.ts';
import { askAll, startDeadline } from './check.ts';
import { databaseProbes } from './database.ts';
import { ledgerProbes } from './ledger.ts';
import { scheduleProbes } from './schedules.ts';
import { workProbes } from './work.ts';

/** Seconds, for all checks together. */
const maxSeconds = 9;

/**
 * The checks of `volley doctor` that ask the ledger only, and nothing of the network. Reads only. Never rejects.
 *
 * @param campaigns folder of the campaigns, relative to the working folder
 */
export function checkLedgerHealth(
  { ledger, now }: Pick<EngineContext, 'ledger' | 'now'>,
  settings: Settings,
  campaigns: string,
): Promise<readonly Check[]> {
  const pool = ledger.monitoring;
  const probes = [
    ...workProbes(settings, now),
    ...scheduleProbes(settings, campaigns, now),
    ...databaseProbes(settings, now),
    ...ledgerProbes(settings),
  ];
  return askAll(
    probes.map(({ name, ask }) => ({ name, ask: () => ask(pool) })),
    startDeadline(maxSeconds),
  );
}

/** When a round of checks began, and what it found. */
type HealthChecks = { readonly at: Date; readonly checks: readonly Check[] };

/** Milliseconds for which a round is shown: it counts new runs anew, which takes seconds. */
const shownFor = 60_000;

/** For pages: the last round. When it is a minute old, the next one begins in the background. */
export function createHealthChecks(
  context: Pick<EngineContext, 'ledger' | 'now'>,
  settings: Settings,
  campaigns: string,
): () => Promise<HealthChecks> {
  const rounds = new LRUCache<'ledger', HealthChecks>({
    max: 1,
    ttl: shownFor,
    allowStale: true,
    fetchMethod: async () => ({
      at: context.now(),
      checks: await checkLedgerHealth(context, settings, campaigns),
    }),
  });
  return () => rounds.forceFetch('ledger');
}
