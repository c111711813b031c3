import type { Account } from '../../gateway/account.ts';
import type { PlannedRun } from '../../ledger/planning/planned-run.ts';
import { enqueueSlices } from '../../ledger/slices/enqueue.ts';
import type { EngineContext } from '../context.ts';
import { dispatchSettings } from '../dispatch/dispatch-settings.ts';

/** @param definition as it is frozen */
export async function planFirstSlices(
  { ledger }: EngineContext,
  run: string,
  account: Account,
  definition: unknown,
): Promise<Pick<PlannedRun, 'canary' | 'priority' | 'enqueue'>> {
  const queue = await ledger.queue();
  const { plan, failFast } = dispatchSettings(run, account, definition);
  return {
    canary: failFast?.first ?? null,
    priority: plan.priority,
    enqueue: (client) => enqueueSlices(queue, client, plan),
  };
}
