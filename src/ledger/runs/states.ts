import type { Channel } from '../../domain/message.ts';
import type { RunReason } from '../../domain/reasons.ts';
import type { RunState } from '../../domain/runs.ts';
import type { Connection } from '../session.ts';

/** A state of a run, and when it was entered. */
export type RunStateChange = {
  readonly state: RunState;
  readonly reason: RunReason | null;
  readonly at: Date;
};

/** What a run became, in the order in which it did. */
export async function listStates(client: Connection, run: string): Promise<RunStateChange[]> {
  const { rows } = await client.query<RunStateChange>(
    'SELECT state, reason, changed_at AS at FROM run_states WHERE run_id = $1 ORDER BY change',
    [run],
  );
  return rows;
}

/** What a run is, but for its counts. */
export type RunHead = {
  readonly account: string;
  readonly channel: Channel;
  /** Why it is in its state. */
  readonly stateReason: RunReason | null;
};

export async function findRunHead(client: Connection, run: string): Promise<RunHead | undefined> {
  const { rows } = await client.query<RunHead>(
    'SELECT account, channel, state_reason AS "stateReason" FROM runs WHERE run_id = $1',
    [run],
  );
  return rows[0];
}
