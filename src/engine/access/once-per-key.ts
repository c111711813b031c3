import {
  findStartedByKey,
  recordStartKey,
  releaseStartKeyLock,
  type StartedByKey,
  type StartKey,
  tryStartKeyLock,
} from '../../ledger/runs/start-keys.ts';
import { inSession } from '../../ledger/session.ts';
import { digestOf } from '../../platform/digest.ts';
import type { EngineContext } from '../context.ts';
import type { AlongsideRun } from '../plan/make-run.ts';
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
 * Plans one run per key: both are committed together.
 *
 * @param request what is asked: the key of another request is refused
 * @param plan gets the function that records the key, for the transaction that plans the run
 * @param refuse says that the token is not, or no longer, valid for the account of the run
 */
export async function oncePerKey(
  { ledger: { pool } }: Pick<EngineContext, 'ledger'>,
  { token, key: name, request: asked }: StartKey & { readonly request: object },
  plan: (recordKey: AlongsideRun) => Promise<string>,
  refuse: () => never,
): Promise<StartResult> {
  const key = { token, key: name };
  const request = digestOf(JSON.stringify(asked));
  const recordKey: AlongsideRun = async (client, run) => {
    if (!(await recordStartKey(client, key, { run, request }))) refuse();
  };
  const before = await findStartedByKey(pool, key);
  if (before) return toRepeatedStart(before, request);
  return inSession(pool, async (client) => {
    if (!(await tryStartKeyLock(client, key))) return { kind: 'under way' };
    try {
      // Another process may have started it before we held the lock.
      const meanwhile = await findStartedByKey(pool, key);
      return meanwhile
        ? toRepeatedStart(meanwhile, request)
        : { kind: 'planned', run: await plan(recordKey) };
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
