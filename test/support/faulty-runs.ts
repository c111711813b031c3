import type { RequestState } from '../../src/domain/runs.ts';
import type { EngineContext } from '../../src/engine/context.ts';
import type { Account } from '../../src/gateway/account.ts';
import { startTestSandbox, type TestSandbox } from '../sandbox/start-test-sandbox.ts';
import { execute, type RecordedRequest, recordedRequests } from './execute.ts';
import { type Fault, type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { forwardUnchanged } from './faults.ts';
import { aContact, anEnvelope, aRun, openTestLedger, planContacts } from './ledger.ts';

/** With the number of times the service received and accepted it. */
export type SentRequest = RecordedRequest & { readonly received: number; readonly accepted: number };

/** The text, and keys of `dispatch`; two retries by default. */
export type FaultyPlan = { readonly text?: string; readonly dispatch?: Readonly<Record<string, unknown>> };

/** Runs in a real ledger, with a faulty connection to the service. */
export type FaultyRuns = {
  /** Waits between attempts only as long as the service asks. */
  readonly context: EngineContext;
  readonly service: TestSandbox;
  /** @returns the run, with one recipient per request */
  readonly plan: (requests: number, plan?: FaultyPlan) => Promise<string>;
  /** With these faults in order; afterwards it forwards everything. */
  readonly proxyWith: (...faults: readonly Fault[]) => Promise<FaultProxy>;
  readonly requestsOf: (run: string) => Promise<readonly SentRequest[]>;
  readonly sendOne: (account: Account, plan?: FaultyPlan) => Promise<SentRequest>;
  readonly close: () => Promise<void>;
};

export async function openFaultyRuns(): Promise<FaultyRuns> {
  const opened = await openTestLedger();
  const service = await startTestSandbox();
  const context = { ...opened.context, random: () => 0 };

  const plan: FaultyRuns['plan'] = (requests, { text = 'Hello', dispatch } = {}) => {
    const envelope = anEnvelope({ Message: text });
    const contacts = Array.from({ length: requests }, (_, index) => aContact(index + 2, { envelope }));
    const definition = { dispatch: { concurrency: 4, retries: 2, ...dispatch } };
    return planContacts(opened.ledger, aRun({ chunkSize: 1, definition }), contacts);
  };

  const requestsOf: FaultyRuns['requestsOf'] = async (run) => {
    const lines = Map.groupBy(await service.journal(), ({ messageId }) => messageId ?? '');
    return (await recordedRequests(context, run)).map((request) => {
      const received = lines.get(request.messageId) ?? [];
      const accepted = received.filter(({ status }) => status === 200);
      return { ...request, received: received.length, accepted: accepted.length };
    });
  };

  return {
    context,
    service,
    plan,
    proxyWith(...faults) {
      const script = faults.values();
      return startFaultProxy(service.port, () => script.next().value ?? forwardUnchanged);
    },
    requestsOf,
    async sendOne(account, options) {
      const run = await plan(1, options);
      await execute(context, run, account);
      const [request] = await requestsOf(run);
      if (!request) throw new Error('the run has no request');
      return request;
    },
    async close() {
      await service[Symbol.asyncDispose]();
      await opened.close();
    },
  };
}

export type AttemptEnd = readonly [verdict: string, httpStatus: number | null, detail: string | null];

/** @param accepted how many times the service accepted and received it */
export function sent(
  state: RequestState,
  accepted: 0 | 1,
  ...attempts: readonly AttemptEnd[]
): Omit<SentRequest, 'messageId'> {
  return {
    state,
    received: accepted,
    accepted,
    attempts: attempts.map(([verdict, http_status, detail], index) => {
      return { attempt: index + 1, verdict, http_status, detail };
    }),
  };
}

export function inDoubt(httpStatus: number | null, detail: string, accepted: 0 | 1) {
  return sent('in_doubt', accepted, ['in_doubt', httpStatus, detail]);
}

/** After these repeated attempts. */
export function acceptedAfter(...attempts: readonly AttemptEnd[]) {
  return sent('accepted', 1, ...attempts, ['accepted', 200, null]);
}
