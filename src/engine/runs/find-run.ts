import { InputError } from '../../domain/problems.ts';
import type { RunSummary } from '../../domain/runs.ts';
import { findRun, type Run } from '../../ledger/runs/find.ts';
import { summariseRun } from '../../ledger/runs/summary.ts';
import { listWindowWaits } from '../../ledger/slices/windows.ts';
import type { EngineContext } from '../context.ts';

/** @throws InputError when there is no such run */
export async function requireSummary({ ledger }: EngineContext, run: string): Promise<RunSummary> {
  const summary = (await summariseRun(ledger.pool, run)) ?? noSuchRun(run);
  const waits = await listWindowWaits(ledger.pool, run);
  return waits.length > 0 ? { ...summary, waits } : summary;
}

/** @throws InputError when there is no such run */
export async function requireRun({ ledger }: EngineContext, run: string): Promise<Run> {
  return (await findRun(ledger.knex, run)) ?? noSuchRun(run);
}

/** @throws InputError when the run is missing or purged */
export async function requireUnpurgedRun(context: EngineContext, run: string): Promise<Run> {
  const found = await requireRun(context, run);
  if (found.purgedAt === null) return found;
  const what = `It was purged at ${found.purgedAt.toISOString()}: its contacts and messages are erased. \`volley report run ${run}\` has its counts, and \`volley report billing\` its costs.`;
  throw new InputError([{ where: `run ${run}`, what }]);
}

export function noSuchRun(run: string): never {
  throw new InputError([{ where: `run ${run}`, what: 'There is no such run; `volley runs` lists them.' }]);
}
