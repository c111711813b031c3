import { expect } from 'vitest';
import {
  type RecipientState,
  type RequestState,
  type RunState,
  recipientStates,
  requestStates,
} from '../../../src/domain/runs.ts';
import { recipientStateOf } from '../../../src/ledger/counts/run-counts.ts';
import { summariseRun } from '../../../src/ledger/runs/describe-run.ts';
import { expectCountsKept } from '../../support/expect-counts.ts';
import type { Model, ModelRequest } from './model.ts';
import type { World } from './world.ts';

type LedgerRequest = {
  readonly number: number;
  readonly messageId: string;
  readonly state: RequestState;
  readonly hasRow: boolean;
  /** Of its row. */
  readonly owner: string | null;
  readonly reported: boolean | null;
  readonly resends: number;
  readonly addresses: readonly string[];
  /** Recipients and attempts. */
  readonly counts: readonly number[];
  readonly outcomes: Readonly<Record<string, string>>;
  /** The owner is unknown if the request has no row and was accepted. */
  readonly attempts: readonly { readonly owner: string | null; readonly verdict: string | null }[];
};

type LedgerRun = {
  readonly run: RunState;
  /** Requests with a recorded acceptance. */
  readonly accepted: readonly number[];
  readonly reportedEarly: readonly number[];
  readonly attempted: readonly number[];
  readonly requests: readonly LedgerRequest[];
  readonly slices: readonly unknown[];
};

/** One statement, so one snapshot. */
async function readLedger({ pool, run }: World): Promise<LedgerRun> {
  const { rows } = await pool.query<{ ledger: LedgerRun }>({
    name: 'model-read-ledger',
    text: `
    SELECT json_build_object(
      'run', (SELECT state FROM runs WHERE run_id = $1),
      'requests', (
        SELECT json_agg(json_build_object(
          'number', q.request, 'messageId', q.message_id,
          'state', q.state, 'hasRow', o.request IS NOT NULL, 'owner', o.owner, 'reported', o.reported,
          'resends', q.resends,
          'addresses', c.addresses, 'counts', json_build_array(q.recipients, q.attempts),
          'outcomes', (SELECT coalesce(json_object_agg(c.addresses[o.position], o.outcome), '{}')
                    FROM recipient_outcomes_between($1, q.request, q.request) o),
          'attempts', (SELECT coalesce(json_agg(json_build_object('owner', a.owner, 'verdict', a.verdict)
                                                ORDER BY a.attempt), '[]')
                       FROM attempts_between($1, q.request, q.request) a)
        ) ORDER BY q.request)
        FROM request_states q
        CROSS JOIN LATERAL (
          SELECT ARRAY(SELECT address FROM recipients_between($1, q.request, q.request) ORDER BY position) AS addresses
        ) c
        LEFT JOIN requests o ON o.run_id = q.run_id AND o.request = q.request
        WHERE q.run_id = $1
      ),
      'accepted', (
        SELECT coalesce(json_agg(request ORDER BY request), '[]')
        FROM (
          SELECT unnest(requests) AS request FROM outcomes WHERE run_id = $1
          UNION ALL
          SELECT s.first_request + CAST(ordinal AS integer) - 1
          FROM slice_outcomes o
          JOIN slices s USING (run_id, slice)
          CROSS JOIN LATERAL unnest(o.took_ms) WITH ORDINALITY AS outcome (took_ms, ordinal)
          WHERE run_id = $1 AND outcome.took_ms IS NOT NULL
        ) accepted
      ),
      'reportedEarly', (
        SELECT coalesce(json_agg(request ORDER BY request), '[]') FROM early_proofs WHERE run_id = $1
      ),
      'attempted', (
        SELECT coalesce(json_agg(DISTINCT request ORDER BY request), '[]') FROM attempts WHERE run_id = $1
      ),
      'slices', (
        SELECT json_agg(json_build_object('number', slice, 'phase', phase,
                                          'first', coalesce(first_request, 1), 'last', coalesce(last_request, 0),
                                          'isCanary', is_canary, 'state', state, 'owner', owner, 'worker', worker,
                                          'claimedTo', coalesce(claimed_to, 0), 'version', version) ORDER BY slice)
        FROM slices
        WHERE run_id = $1
      )
    ) AS ledger`,
    values: [run],
  });
  const [row] = rows;
  if (!row) throw new Error('the ledger did not answer');
  return row.ledger;
}

const ruleOf: Partial<Record<RequestState, string>> = {
  sending: 'rule 1: the state of claimed',
  in_doubt: 'rule 2: the state of doubtful',
  accepted: 'rule 2: the state of accepted',
};

/** Checks that the ledger agrees with the model and keeps the rules of docs/architecture.md. */
export async function compare(model: Model, world: World): Promise<void> {
  const ledger = await readLedger(world);
  for (const { number, state } of model.requests) {
    const is = ledger.requests.find((request) => request.number === number)?.state;
    expect(is, `${ruleOf[state] ?? 'the state of'} request ${number}`).toBe(state);
  }
  expect(
    ledger.requests.map(({ messageId: _, ...request }) => request),
    'requests',
  ).toEqual(model.requests.map(expectedRequest));
  expectTables(model, ledger);
  expect(ledger.slices, 'slices').toEqual(
    model.slices
      .map(({ expired: _, claimedAt: __, ...slice }) => slice)
      .toSorted((one, other) => one.number - other.number),
  );
  await expectCountsKept(world.pool, world.run);
  expect(ledger.run, 'the run').toBe(model.run);
  for (const request of ledger.requests) expectPromisesKept(model, world, request);
  expectNoneSentBeforePromotion(model, world);
  expectNoneLeftBehind(ledger);
  await expectSums(model, world, ledger);
}

/** Of a slice that is not promoted, the service has nothing, and no worker may have sent anything. */
function expectNoneSentBeforePromotion(model: Model, { service, messageIds }: World): void {
  for (const slice of model.slices.filter(({ state }) => state === 'unpromoted')) {
    const sent = model.requests.filter(
      ({ number, attempts }) =>
        number >= slice.first &&
        number <= slice.last &&
        (attempts.length > 0 || service.accepted(messageIds.get(number) ?? '') > 0),
    );
    expect(sent, `rule 6e: what was sent of slice ${slice.number} before its promotion`).toEqual([]);
  }
}

/** A request has a row, or a recorded acceptance, or neither. */
function expectTables({ requests }: Model, { accepted, reportedEarly, attempted }: LedgerRun): void {
  const numbers = (is: (request: ModelRequest) => boolean) =>
    requests.filter((request) => is(request)).map(({ number }) => number);
  expect(accepted, 'rule 2: requests without rows that are recorded as accepted').toEqual(
    numbers(({ hasRow, state }) => !hasRow && state === 'accepted'),
  );
  const unaccepted = numbers(
    ({ state, outcomes }) =>
      state !== 'accepted' && [...outcomes.values()].some((outcome) => outcome !== 'cancelled'),
  );
  expect(reportedEarly, 'requests with a delivery report that are not accepted').toEqual(
    expect.arrayContaining(unaccepted),
  );
  expect(attempted, 'requests with attempts of their own').toEqual(
    numbers(({ hasRow, attempts }) => hasRow && attempts.length > 0),
  );
}

function expectedRequest(request: ModelRequest): unknown {
  const { number, state, hasRow, owner, reported, resends, addresses, outcomes, attempts } = request;
  return {
    number,
    state,
    hasRow,
    owner: hasRow ? owner : null,
    reported: hasRow ? reported : null,
    resends,
    addresses,
    counts: [addresses.length, attempts.length],
    outcomes: Object.fromEntries(outcomes),
    attempts: attempts.map((attempt) => ({
      owner: hasRow || state === 'sending' ? attempt.owner : null,
      verdict: attempt.verdict,
    })),
  };
}

const sentStates: readonly RequestState[] = ['sending', 'in_doubt', 'accepted', 'abandoned'];

/** Rules 2, 3 and 6. */
function expectPromisesKept(model: Model, { service, messageIds }: World, request: LedgerRequest): void {
  const { number, messageId, state, resends } = request;
  expect(messageIds.get(number) ?? messageId, `rule 3: the MessageID of request ${number}`).toBe(messageId);
  messageIds.set(number, messageId);
  const accepted = service.accepted(messageId);
  expect(accepted, `rule 6: how often the service accepted request ${number}`).toBeLessThanOrEqual(
    1 + resends,
  );
  const named = sentStates.includes(state) || (state === 'planned' && resends > 0);
  expect(accepted === 0 || named, `request ${number} is ${state}, and the service has it`).toBe(true);
  const known = accepted > 0 || model.requests[number - 1]?.resolvedAsAccepted;
  expect(
    state !== 'accepted' || known,
    `request ${number} is accepted, and the service does not have it`,
  ).toBe(true);
}

function expectNoneLeftBehind({ run, requests, slices }: LedgerRun): void {
  const held = JSON.stringify(slices).includes('"held"');
  const left = requests.filter(({ state }) => state === 'sending' || state === 'planned');
  const over = run === 'completed' || (run === 'cancelled' && !held);
  expect(over ? left : [], `requests in flight in a run that is ${run}`).toEqual([]);
  const sending = left.filter(({ state }) => state === 'sending');
  expect(held ? [] : sending, 'rule 2: requests that are sending, although no worker holds a slice').toEqual(
    [],
  );
}

/** Rule 4. */
async function expectSums(model: Model, { pool, run }: World, { requests }: LedgerRun): Promise<void> {
  const summary = await summariseRun(pool, run);
  if (!summary) throw new Error(`there is no run ${run}`);
  const sum = ({ total: _, ...states }: Readonly<Record<string, number>>): number =>
    Object.values(states).reduce((all, count) => all + count, 0);
  expect(sum(summary.requests), 'rule 4: requests').toBe(summary.requests.total);
  expect(summary.requests.total, 'rule 4: requests').toBe(requests.length);
  expect(sum(summary.recipients), 'rule 4: recipients').toBe(summary.recipients.total);
  expect(summary.recipients.total, 'rule 4: recipients').toBe(model.settings.recipients);
  const negative = Object.values(summary.recipients).some((count) => count < 0);
  expect(negative, 'rule 4: no count is below nothing').toBe(false);
  for (const state of requestStates) {
    const counted = requests.filter((request) => request.state === state).length;
    expect(summary.requests[state], `rule 4: ${state}`).toBe(counted);
  }
  const { total: _, ...recipients } = summary.recipients;
  expect(recipients, 'rule 4: recipients by state').toEqual(countRecipients(requests));
}

/** Each recipient by its own outcome, or else by the state of its request. */
function countRecipients(requests: readonly LedgerRequest[]): Record<string, number> {
  const counts: Record<string, number> = Object.fromEntries(recipientStates.map((state) => [state, 0]));
  for (const {
    state,
    addresses,
    outcomes,
    counts: [, attempts = 0],
  } of requests) {
    const isUnsent = attempts === 0 && (state === 'planned' || state === 'cancelled');
    for (const address of addresses) {
      const outcome = outcomes[address];
      const known = outcome === 'cancelled' || !isUnsent ? outcome : undefined;
      const counted = (known ?? recipientStateOf[state]) as RecipientState;
      counts[counted] = (counts[counted] ?? 0) + 1;
    }
  }
  return counts;
}
