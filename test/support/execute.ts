import type { RequestState, RunSummary } from '../../src/domain/runs.ts';
import type { EngineContext } from '../../src/engine/context.ts';
import { executeRun, type RunEnd } from '../../src/engine/runs/execute-run.ts';
import { requireSummary } from '../../src/engine/runs/find-run.ts';
import type { Account } from '../../src/gateway/account.ts';
import { anAccount } from './account.ts';

const noEvents = { onStart: () => {}, onProgress: () => {}, onDown: () => {}, onUp: () => {} };
const never = new AbortController().signal;

/** Executes a run in this process. */
export async function execute(
  context: EngineContext,
  run: string,
  account: Account,
  stop: AbortSignal = never,
): Promise<{ readonly end: RunEnd; readonly summary: RunSummary }> {
  const end = await executeRun(context, run, {
    accountNamed: async () => account,
    stop,
    events: noEvents,
  });
  return { end, summary: await requireSummary(context, run) };
}

export type AccountChanges = Partial<Omit<Account, 'timeouts'>> & {
  readonly timeouts?: Partial<Account['timeouts']>;
};

/** With longer timeouts. */
export function accountAt(baseUrl: string, { timeouts, ...changes }: AccountChanges = {}): Account {
  const longer = { connect: 5_000, headers: 5_000, body: 5_000, ...timeouts };
  return anAccount({ baseUrl, timeouts: longer, ...changes });
}

export type RecordedAttempt = {
  readonly attempt: number;
  readonly verdict: string | null;
  readonly http_status: number | null;
  readonly detail: string | null;
};

export type RecordedRequest = {
  readonly messageId: string;
  readonly state: RequestState;
  readonly attempts: readonly RecordedAttempt[];
};

export async function recordedRequests(
  { ledger }: EngineContext,
  run: string,
): Promise<readonly RecordedRequest[]> {
  const { rows } = await ledger.pool.query<RecordedRequest>(
    `SELECT q.message_id AS "messageId", q.state,
            (SELECT json_agg(json_build_object('attempt', a.attempt, 'verdict', a.verdict,
                                               'http_status', a.http_status, 'detail', a.detail)
                             ORDER BY a.attempt)
             FROM all_attempts a WHERE a.run_id = q.run_id AND a.request = q.request) AS attempts
     FROM request_states q WHERE q.run_id = $1 ORDER BY q.request`,
    [run],
  );
  return rows;
}
