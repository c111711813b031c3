import {
  findStartedByKey,
  releaseStartKeyLock,
  type StartedByKey,
  type StartKey,
  tryStartKeyLock,
} from '../../ledger/runs/start-keys.ts';
import { inSession } from '../../ledger/session.ts';
import type { EngineContext } from '../context.ts';
import { startUnlessWaiting } from '../runs/begin-run.ts';
import type { ScheduleSource } from '../schedule/start-ticks.ts';

export type StartResult =
  | { readonly kind: 'planned'; readonly run: string }
  | { readonly kind: 'repeated'; readonly run: string }
  | { readonly kind: 'under way' }
  | { readonly kind: 'key of another'; readonly run: string };

export type Starter = {
  readonly scheduleSource: Pick<ScheduleSource, 'accountNamed'>;
  /** `plan` limits the plans that are made at once. */
  readonly limits: { readonly plan: <Result>(plan: () => Promise<Result>) => Promise<Result> };
};

export type Start =
  | (Extract<StartResult, { kind: 'planned' | 'repeated' }> & { readonly waitsForApproval: boolean })
  | Extract<StartResult, { kind: 'under way' | 'key of another' }>;

/**
 * Starts a run for a call of the API or a form: plans it once per key, and begins it unless it waits for approval.
 * Workers send it.
 *
 * @param plan ends as `startByKey` or `rerunByKey` does
 */
export async function startOnce(
  context: EngineContext,
  { scheduleSource, limits }: Starter,
  plan: () => Promise<StartResult>,
): Promise<Start> {
  const end = await limits.plan(plan);
  if (end.kind !== 'planned' && end.kind !== 'repeated') return end;
  const waitsForApproval = await startUnlessWaiting(context, end.run, scheduleSource.accountNamed);
  return { ...end, waitsForApproval };
}

/**
 * Plans one run per key.
 *
 * @param request digest of what is asked: the key of another request is refused
 * @param plan records the key in the transaction that plans the run
 */
export async function oncePerKey(
  { ledger: { pool } }: Pick<EngineContext, 'ledger'>,
  key: StartKey,
  request: Buffer,
  plan: () => Promise<string>,
): Promise<StartResult> {
  const before = await findStartedByKey(pool, key);
  if (before) return toRepeatedStart(before, request);
  return inSession(pool, async (client) => {
    if (!(await tryStartKeyLock(client, key))) return { kind: 'under way' };
    try {
      // Another process may have started it before we held the lock.
      const meanwhile = await findStartedByKey(pool, key);
      return meanwhile ? toRepeatedStart(meanwhile, request) : { kind: 'planned', run: await plan() };
    } catch (error) {
      // A lost session loses its lock, so another process may have started the run.
      const concurrent = await findStartedByKey(pool, key);
      if (concurrent) return toRepeatedStart(concurrent, request);
      throw error;
    } finally {
      await releaseStartKeyLock(client, key);
    }
  });
}

function toRepeatedStart({ run, request }: StartedByKey, requested: Buffer): StartResult {
  return { kind: request.equals(requested) ? 'repeated' : 'key of another', run };
}
