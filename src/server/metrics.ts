import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Observer } from '../engine/dispatch/observer.ts';
import type { FailedCheck } from './callers.ts';

/** Who is told what the receiver and the applier do, to count it. */
export type ReportObserver = {
  readonly taken: (account: string) => void;
  /** A report could not be committed; its caller was answered 503. */
  readonly notStored: (account: string) => void;
  readonly refused: (check: FailedCheck | 'path') => void;
  /** So many were read from the inbox and applied; one that matched nothing is applied again later. */
  readonly applied: (reports: number) => void;
  /** The ledger refuses a report; it is marked, and the others go on. */
  readonly failed: (account: string) => void;
};

/** A call of the API was answered; `operation` as its document names it, `none` where there is no such route. */
export type ApiObserver = (operation: string, status: number) => void;

export type ProcessMetrics = {
  readonly registry: Registry;
  readonly dispatch: Omit<Observer, 'runEnded' | 'clockSteppedBack'>;
  readonly reports: ReportObserver;
  readonly api: ApiObserver;
};

/** Of an answer of the service (seconds); who is slower than the last one is at an account's time-out. */
const answerBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** What one account's requests are counted in; found once, not for each request. */
type AccountCounts = {
  readonly settled: (state: string) => void;
  readonly sending: () => () => void;
  readonly waited: (milliseconds: number) => void;
};

/**
 * Counts what this process does. Labels are accounts, states, checks and operations: never anything of which there are more with every
 * run or caller.
 *
 * @param ofNode whether to measure the event loop, memory and handles too; that goes on until the process ends
 */
export function openMetrics({ ofNode }: { readonly ofNode: boolean }): ProcessMetrics {
  const registry = new Registry();
  const registers = [registry];
  if (ofNode) collectDefaultMetrics({ register: registry });
  const counter = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const settled = counter(
    'volley_requests_settled_total',
    'Send requests settled by this process, by what they became; planned: provably not taken, and given back.',
    'account',
    'state',
  );
  const inFlight = new Gauge({
    name: 'volley_requests_in_flight',
    help: 'Send requests of this process that wait for the answer of the service.',
    labelNames: ['account'],
    registers,
  });
  const answers = new Histogram({
    name: 'volley_answer_seconds',
    help: 'From the sending of a request to the answer of the service, or its failure.',
    labelNames: ['account'],
    buckets: answerBuckets,
    registers,
  });
  const rateWaits = counter(
    'volley_rate_limit_wait_seconds_total',
    'Time that slices have waited for the rate of their account, all slices together.',
    'account',
  );
  const taken = counter(
    'volley_reports_taken_total',
    'Delivery reports that were committed and answered 200.',
    'account',
  );
  const notStored = counter(
    'volley_reports_not_stored_total',
    'Delivery reports that were answered 503 because they could not be committed.',
    'account',
  );
  const refused = counter(
    'volley_calls_refused_total',
    'Calls of the receiver that were refused, by the check that failed.',
    'check',
  );
  const applied = counter(
    'volley_reports_applied_total',
    'Delivery reports that this process has worked into the ledger.',
  );
  const failed = counter(
    'volley_reports_failed_total',
    'Delivery reports that the ledger refused, and that this process has marked and passed by.',
    'account',
  );
  const apiCalls = counter(
    'volley_api_calls_total',
    'Calls of the API that were answered, by operation and status.',
    'operation',
    'status',
  );

  const accounts = new Map<string, AccountCounts>();
  const countsOf = (account: string): AccountCounts => {
    const known = accounts.get(account);
    if (known) return known;
    const states = new Map<string, Counter.Internal>();
    const flying = inFlight.labels(account);
    const answered = answers.labels(account);
    const waited = rateWaits.labels(account);
    const counts: AccountCounts = {
      settled(state) {
        const count = states.get(state) ?? settled.labels(account, state);
        states.set(state, count);
        count.inc();
      },
      sending() {
        flying.inc();
        const stop = answered.startTimer();
        return () => {
          flying.dec();
          stop();
        };
      },
      waited: (milliseconds) => waited.inc(milliseconds / 1000),
    };
    accounts.set(account, counts);
    return counts;
  };

  return {
    registry,
    dispatch: {
      exchangeStarted: (account) => countsOf(account).sending(),
      settled: ({ account, state }) => countsOf(account).settled(state),
      waitedForRate: (account, milliseconds) => countsOf(account).waited(milliseconds),
    },
    reports: {
      taken: (account) => taken.inc({ account }),
      notStored: (account) => notStored.inc({ account }),
      refused: (check) => refused.inc({ check }),
      applied: (reports) => applied.inc(reports),
      failed: (account) => failed.inc({ account }),
    },
    api: (operation, status) => apiCalls.inc({ operation, status }),
  };
}
