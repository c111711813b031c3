import type { FastifyRequest } from 'fastify';
import type { StartRun } from '../../engine/access/start-by-key.ts';
import { isForAccount } from '../../engine/access/tokens.ts';
import type { EngineContext } from '../../engine/context.ts';
import type { CampaignSource } from '../../engine/schedule/start-ticks.ts';
import { findRun, type Run } from '../../ledger/runs/find.ts';
import type { Token } from '../../ledger/tokens/tokens.ts';
import type { Logger } from '../../platform/logger.ts';
import type { CallLimits } from './call-limits.ts';
import { ProblemError } from './problem.ts';

export type Call = {
  /** Its actor is the caller. */
  readonly context: EngineContext;
  readonly token: Token;
  readonly campaignSource: CampaignSource;
  readonly startRun: StartRun;
  readonly logger: Logger;
  readonly limits: CallLimits;
};

/** The caller of the API, or the person in the dashboard, as far as it decides what is visible. */
export type Caller = { readonly context: EngineContext; readonly token: Pick<Token, 'accounts'> };

const calls = new WeakMap<object, Call>();

export function keepCall(request: FastifyRequest, call: Call): void {
  calls.set(request.raw, call);
}

export function callOf({ raw }: { readonly raw: object }): Call {
  const call = calls.get(raw);
  if (!call) throw new Error('the call was not authenticated');
  return call;
}

export const noSuchRun = 'There is no such run';

/** @throws ProblemError for an unknown run, or a run of another account */
export async function requireVisibleRun(call: Call, run: string): Promise<Run> {
  const found = await findVisibleRun(call, run);
  if (found) return found;
  const what = `${noSuchRun}; GET /api/v1/runs lists them.`;
  throw new ProblemError(404, 'not found', what, { problems: [{ where: `run ${run}`, what }] });
}

/** @returns undefined for an unknown run, or a run of another account */
export async function findVisibleRun({ context, token }: Caller, run: string): Promise<Run | undefined> {
  const found = await findRun(context.ledger.knex, run);
  return found && isForAccount(token, found.account) ? found : undefined;
}
