import type { RunState } from '../domain.ts';
import type { Alongside } from '../ledger/connection.ts';
import { noteOf } from './audit.ts';
import type { EngineContext } from './context.ts';

/** Tells who has a run sent. Who only helps to send one that is running is not told. */
export function noteBegun(
  context: EngineContext,
  run: string,
): (client: Parameters<Alongside>[0], before: RunState) => Promise<void> {
  return async (client, before) => {
    if (before === 'running') return;
    const action = before === 'paused' ? 'run resumed' : 'run started';
    await noteOf(context, { action, run })(client);
  };
}
