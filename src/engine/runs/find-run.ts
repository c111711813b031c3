import { InputError } from '../../domain/problems.ts';
import { formatReasonOrNull } from '../../domain/reasons.ts';
import type { DoubtGroup, RunSummary } from '../../domain/runs.ts';
import { listFailureGroups } from '../../ledger/counts/groups.ts';
import { summariseRun } from '../../ledger/runs/describe-run.ts';
import { findRun, type Run } from '../../ledger/runs/find.ts';
import { type Connection, inSnapshot } from '../../ledger/session.ts';
import { listWindowWaits } from '../../ledger/slices/windows.ts';
import { maskAddresses } from '../../platform/mask-addresses.ts';
import type { EngineContext } from '../context.ts';

/** All of one moment. @throws InputError when there is no such run */
export function requireSummary({ ledger }: Pick<EngineContext, 'ledger'>, run: string): Promise<RunSummary> {
  return inSnapshot(ledger.pool, (client) => readSummary(client, run));
}

/** @throws InputError when there is no such run */
export async function readSummary(client: Connection, run: string): Promise<RunSummary> {
  const summary = (await summariseRun(client, run)) ?? noSuchRun(run);
  const waits = await listWindowWaits(client, run);
  const doubts = summary.requests.in_doubt > 0 ? await listDoubtGroups(client, run) : [];
  return {
    ...summary,
    ...(waits.length > 0 ? { waits } : {}),
    ...(doubts.length > 0 ? { doubts } : {}),
  };
}

const maxDoubtGroups = 5;

/** Notifications have them too, so they name no recipient. */
async function listDoubtGroups(client: Connection, run: string): Promise<DoubtGroup[]> {
  const groups = await listFailureGroups(client, run, { states: ['in_doubt'], limit: maxDoubtGroups });
  return groups.map(({ reason, requests, recipients }) => {
    return {
      reason: maskAddresses(formatReasonOrNull(reason) ?? 'no reason is recorded'),
      requests,
      recipients,
    };
  });
}

/** @throws InputError when there is no such run */
export async function requireRun({ ledger }: EngineContext, run: string): Promise<Run> {
  return (await findRun(ledger.knex, run)) ?? noSuchRun(run);
}

/** @throws InputError when the run is missing or purged */
export async function requireUnpurgedRun(context: EngineContext, run: string): Promise<Run> {
  const found = await requireRun(context, run);
  if (found.purgedAt === null) return found;
  const what = `It was purged at ${found.purgedAt.toISOString()}: its contacts and messages are erased. \`volley report run ${run}\` has its counts, and \`volley billing report\` its costs.`;
  throw new InputError([{ where: `run ${run}`, what }]);
}

export function noSuchRun(run: string): never {
  throw new InputError([{ where: `run ${run}`, what: 'There is no such run; `volley runs` lists them.' }]);
}
