import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Observer } from '../engine/dispatch/observer.ts';
import type { FailedCheck } from './caller-checks.ts';

export type DeliveryReportObserver = {
  readonly stored: (account: string) => void;
  /** The caller was answered 503. */
  readonly notStored: (account: string) => void;
  readonly refused: (check: FailedCheck | 'path') => void;
  /** A call was cut off while its body arrived. */
  readonly cutOff: () => void;
  /** An unmatched delivery report counts again when it is applied again. */
  readonly applied: (reports: number) => void;
  /** Postgres refused a delivery report. */
  readonly failed: (account: string) => void;
};

/** `operation` as in the OpenAPI document, `none` for an unknown route. */
export type ApiObserver = (operation: string, status: number) => void;

/** What happens when a person signs in to the dashboard. A refused sign-in has a wrong token; a throttled one has an address with too many of them. */
export type SignInEvent = 'signed in' | 'refused' | 'throttled' | 'signed out';

export type ProcessMetrics = {
  readonly registry: Registry;
  readonly dispatch: Omit<Observer, 'runEnded' | 'clockSteppedBack' | 'decided'>;
  readonly deliveryReports: DeliveryReportObserver;
  readonly api: ApiObserver;
  readonly signIns: (event: SignInEvent) => void;
  /** A call of the API or of the dashboard was cut off while its body arrived. */
  readonly apiCutOff: () => void;
};

/** Seconds, up to the account's time-out. */
const answerBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * Labels are never values whose number grows with runs or callers.
 *
 * @param includeNode also measures the event loop, memory and handles, until the process ends
 */
export function createMetrics({ includeNode }: { readonly includeNode: boolean }): ProcessMetrics {
  const registry = new Registry();
  if (includeNode) collectDefaultMetrics({ register: registry });
  const apiCalls = createCounter(
    registry,
    'volley_api_calls_total',
    'Answered calls of the API, by operation and status.',
    'operation',
    'status',
  );
  const signIns = createCounter(
    registry,
    'volley_dashboard_sign_ins_total',
    'People who signed in to the dashboard, were refused or throttled, or signed out.',
    'event',
  );
  const cutOff = createCounter(
    registry,
    'volley_calls_cut_off_total',
    'Calls that were cut off because too many bodies arrived at once, by listener.',
    'listener',
  );
  return {
    registry,
    dispatch: createDispatchMetrics(registry),
    deliveryReports: {
      ...createDeliveryReportMetrics(registry),
      cutOff: () => cutOff.inc({ listener: 'receiver' }),
    },
    api: (operation, status) => apiCalls.inc({ operation, status }),
    signIns: (event) => signIns.inc({ event }),
    apiCutOff: () => cutOff.inc({ listener: 'api' }),
  };
}

function createCounter<Label extends string = never>(
  registry: Registry,
  name: string,
  help: string,
  ...labelNames: Label[]
): Counter<Label> {
  return new Counter({ name, help, labelNames, registers: [registry] });
}

function createDispatchMetrics(registry: Registry): ProcessMetrics['dispatch'] {
  const settled = createCounter(
    registry,
    'volley_requests_settled_total',
    'Send requests settled by this process, by state; planned: provably not taken, and given back.',
    'account',
    'state',
  );
  const inFlight = new Gauge({
    name: 'volley_requests_in_flight',
    help: 'Send requests of this process that wait for the answer of the service.',
    labelNames: ['account'],
    registers: [registry],
  });
  const answers = new Histogram({
    name: 'volley_answer_seconds',
    help: 'Time from sending a request to the answer of the service, or to its failure.',
    labelNames: ['account'],
    buckets: answerBuckets,
    registers: [registry],
  });
  const rateWaits = createCounter(
    registry,
    'volley_rate_limit_wait_seconds_total',
    'Time that slices waited for the rate of their account, added up over all slices.',
    'account',
  );

  return {
    exchangeStarted: (account) => {
      inFlight.inc({ account });
      const stop = answers.startTimer({ account });
      return () => {
        inFlight.dec({ account });
        stop();
      };
    },
    settled: ({ account, state }) => settled.inc({ account, state }),
    waitedForPermit: (account, milliseconds) => rateWaits.inc({ account }, milliseconds / 1000),
  };
}

function createDeliveryReportMetrics(registry: Registry): Omit<DeliveryReportObserver, 'cutOff'> {
  const stored = createCounter(
    registry,
    'volley_delivery_reports_stored_total',
    'Delivery reports that were committed and answered 200.',
    'account',
  );
  const notStored = createCounter(
    registry,
    'volley_delivery_reports_not_stored_total',
    'Delivery reports that were answered 503 because they could not be committed.',
    'account',
  );
  const refused = createCounter(
    registry,
    'volley_calls_refused_total',
    'Refused calls of the receiver, by failed check.',
    'check',
  );
  const applied = createCounter(
    registry,
    'volley_delivery_reports_applied_total',
    'Delivery reports that this process applied to the ledger.',
  );
  const failed = createCounter(
    registry,
    'volley_delivery_reports_failed_total',
    'Delivery reports that Postgres refused, and that this process marked as failed.',
    'account',
  );
  return {
    stored: (account) => stored.inc({ account }),
    notStored: (account) => notStored.inc({ account }),
    refused: (check) => refused.inc({ check }),
    applied: (reports) => applied.inc(reports),
    failed: (account) => failed.inc({ account }),
  };
}
