import { z } from 'zod';
import { doubtPolicies, rejectionPolicies } from '../../campaign/dispatch.ts';
import { storedFailFast } from '../../campaign/run-guard-definition.ts';
import { type FrozenWindow, frozenWindow } from '../../campaign/window-definition.ts';
import type { FailFast } from '../../decisions/guard.ts';
import { priorities } from '../../domain/runs.ts';
import type { Account } from '../../gateway/account.ts';
import { accountSlicesLimit, type SlicePlan } from '../../ledger/slices/enqueue.ts';
import type { DoubtPolicy } from '../../ledger/slices/finish.ts';

/** Older definitions lack the newer keys. */
const frozenDefinition = z.object({
  dispatch: z.object({
    concurrency: z.number(),
    priority: z.enum(priorities).default('normal'),
    retries: z.number(),
    giveUpAfter: z.number().default(3_600_000),
    repeat: z.union([z.literal('allow'), z.number()]).default('allow'),
    onUnknown: z.enum(doubtPolicies).default('hold'),
    resends: z.number().default(0),
    onRejected: z.enum(rejectionPolicies).default('keep'),
    failFast: storedFailFast,
  }),
});

const frozenWindows = z.object({ window: frozenWindow });

export function windowOf(definition: unknown): FrozenWindow | undefined {
  return frozenWindows.parse(definition).window;
}

export type DispatchSettings = {
  readonly plan: SlicePlan;
  readonly policy: DoubtPolicy;
  /** Requests in flight of one slice. */
  readonly concurrency: number;
  readonly retries: number;
  /** How long the run waits for a service that refuses every request (milliseconds). */
  readonly giveUpAfter: number;
  /** How long a repetition is refused (milliseconds); 0: never. */
  readonly repeat: number;
  readonly bisect: boolean;
  readonly failFast: FailFast | undefined;
};

export function failFastOf(definition: unknown): FailFast | undefined {
  return frozenDefinition.parse(definition).dispatch.failFast;
}

type AccountSettings = Pick<Account, 'name' | 'concurrency' | 'statusLookUp'>;

/**
 * Divides an account's concurrency among its slices, so that all workers together stay within it.
 *
 * @param definition as frozen in the run
 */
export function dispatchSettings(
  run: string,
  account: AccountSettings,
  definition: unknown,
): DispatchSettings {
  const { dispatch } = frozenDefinition.parse(definition);
  const maxAccountSlices = equalShares(account.concurrency);
  const share = account.concurrency / maxAccountSlices;
  return {
    plan: {
      run,
      account: account.name,
      maxAccountSlices,
      maxRunSlices: Math.min(maxAccountSlices, Math.max(1, Math.floor(dispatch.concurrency / share))),
      firstAlone: dispatch.failFast !== undefined,
      priority: dispatch.priority,
    },
    policy: {
      lookUp: account.statusLookUp,
      resends: dispatch.onUnknown === 'resend' ? dispatch.resends : 0,
    },
    concurrency: Math.min(share, dispatch.concurrency),
    retries: dispatch.retries,
    giveUpAfter: dispatch.giveUpAfter,
    repeat: dispatch.repeat === 'allow' ? 0 : dispatch.repeat,
    bisect: dispatch.onRejected === 'bisect',
    failFast: dispatch.failFast,
  };
}

function equalShares(concurrency: number): number {
  for (let shares = accountSlicesLimit; shares > 1; shares--) if (concurrency % shares === 0) return shares;
  return 1;
}
