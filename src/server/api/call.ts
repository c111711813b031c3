import type { FastifyRequest } from 'fastify';
import type { EngineContext } from '../../engine/context.ts';
import type { SchedulePlace } from '../../engine/schedule/start-ticks.ts';
import { findRun, type Run } from '../../ledger/runs/find.ts';
import type { Token } from '../../ledger/tokens/tokens.ts';
import type { Logger } from '../../platform/logger.ts';
import { ProblemError } from './problem.ts';
import type { CallSlots } from './slots.ts';

/** What a call that may be made has to work with. */
export type Call = {
  /** Who calls is behind all that is done with it. */
  readonly context: EngineContext;
  readonly token: Token;
  readonly place: SchedulePlace;
  readonly logger: Logger;
  readonly slots: CallSlots;
};

const calls = new WeakMap<object, Call>();

export function keepCall(request: FastifyRequest, call: Call): void {
  calls.set(request.raw, call);
}

export function callOf({ raw }: { readonly raw: object }): Call {
  const call = calls.get(raw);
  if (!call) throw new Error('nobody has let this call in');
  return call;
}

/** @throws ProblemError when there is no such run */
export async function existingRun({ context }: Call, run: string): Promise<Run> {
  const found = await findRun(context.ledger.knex, run);
  if (found) return found;
  const what = 'There is no such run; GET /api/v1/runs lists them.';
  throw new ProblemError(404, 'not found', what, { problems: [{ where: `run ${run}`, what }] });
}
