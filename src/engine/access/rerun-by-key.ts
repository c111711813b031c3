import { InputError } from '../../domain/problems.ts';
import type { StartKey } from '../../ledger/runs/start-keys.ts';
import type { EngineContext } from '../context.ts';
import { planRerun, type Rerun } from '../plan/rerun.ts';
import { oncePerKey, type StartResult } from './once-per-key.ts';

export type RerunRequest = StartKey & Required<Omit<Rerun, 'alongside'>>;

/**
 * Plans one rerun per key: both are committed together.
 *
 * @throws InputError as `planRerun` does, or when the token is no longer valid
 */
export async function rerunByKey(
  context: EngineContext,
  { of, states, account, reason, ...key }: RerunRequest,
): Promise<StartResult> {
  return oncePerKey(
    context,
    { ...key, request: { of, only: states } },
    (alongside) => planRerun(context, { of, states, account, reason, alongside }),
    () => {
      const what = `Your token may no longer start runs of account ${account.name}.`;
      throw new InputError([{ where: `run ${of}`, what }]);
    },
  );
}
