import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { planRun } from '../../src/engine/plan/plan-run.ts';
import { prepareCampaign } from '../../src/engine/plan/prepare-campaign.ts';
import type { RunStatus } from '../../src/engine/reporting/run-status.ts';
import { digestOf } from '../../src/platform/digest.ts';
import { startReceiver } from '../../src/server/receiver.ts';
import { observedMapping } from '../../src/wire/delivery-report-mapping.ts';
import { signalPreload } from './dispatch-scene.ts';
import type { TestLedger } from './ledger.ts';
import { receiverOptions, token } from './receiver.ts';
import { sendDeliveryReport } from './send-delivery-report.ts';
import { type SendCall, type SendPeer, sendPeer } from './send-peer.ts';
import { type SignalAtPoint, signalVariable } from './signal-points.ts';
import { type Ended, type Started, startVolley, volleyInProcess } from './volley.ts';
import { accountsYaml, makeWorkspace } from './workspace.ts';

export type Reported = 'delivered' | 'undelivered';

/** A campaign of one recipient a request, a service that accepts all, and a receiver of its delivery reports. */
export type CanaryScene = AsyncDisposable & {
  readonly service: SendPeer;
  /** @param preloads URLs of modules to load first */
  readonly start: (words: readonly string[], at?: SignalAtPoint, preloads?: readonly string[]) => Started;
  /** In this process. */
  readonly here: (words: readonly string[]) => Promise<Ended>;
  /** Returns the run's id. */
  readonly plan: () => Promise<string>;
  readonly status: (run?: string) => Promise<RunStatus>;
  readonly hasReceived: (calls: number) => Promise<void>;
  /** Reports about the first calls of the service, without those that were reported before. */
  readonly report: (upTo: number, outcome?: Reported) => Promise<void>;
  /** Reports about one call, also if it was reported before. */
  readonly reportCall: (call: SendCall, outcome: Reported) => Promise<void>;
  /** Expects that each recipient was sent to once. */
  readonly expectEachOnce: (recipients: number) => void;
};

export async function canaryScene({
  canary,
  recipients,
  ledger: opening,
}: {
  /** YAML */
  readonly canary: string;
  readonly recipients: number;
  readonly ledger: Promise<TestLedger>;
}): Promise<CanaryScene> {
  await using opened = new AsyncDisposableStack();
  const workspace = opened.use(
    await makeWorkspace({
      'accounts.yaml': accountsYaml,
      'contacts.csv': contacts(recipients),
      'campaign.yaml': campaign(canary),
    }),
  );
  const ledger = opened.adopt(await opening, (it) => it.close());
  const service = opened.use(await sendPeer(() => ({ kind: 'accepted' })));
  const account = {
    name: 'sandbox',
    tokenDigests: [digestOf(token)],
    trustedProxies: [],
    mapping: observedMapping,
  };
  const receiver = opened.adopt(
    await startReceiver(ledger.context, {
      ...receiverOptions(ledger),
      accounts: new Map([['sandbox', account]]),
    }),
    (it) => it.close(),
  );
  const cwd = workspace.folder;
  const env = {
    DATABASE_URL: ledger.url,
    VOLLEY_HOME: `${cwd}/.volley`,
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    VOLLEY_SANDBOX_URL: service.url,
    VOLLEY_SANDBOX_TOKEN: 'any',
    VOLLEY_WEBHOOK_TOKEN: token,
  };
  const here = (words: readonly string[]): Promise<Ended> =>
    volleyInProcess(words, { cwd, env: { ...env, LOG_LEVEL: 'silent' } });
  const reported = new Set<SendCall>();
  const reportCall: CanaryScene['reportCall'] = async (call, outcome) => {
    reported.add(call);
    const [destination = ''] = call.recipients;
    const words = outcome === 'delivered' ? {} : { status: 'Failed', result: 'unknown number' };
    await sendDeliveryReport(`${receiver.url}/webhook/sandbox/${token}`, {
      messageId: call.messageId,
      destination,
      ...words,
    });
  };
  const whole = opened.move();
  return {
    service,
    start: (words, at, preloads = []) =>
      startVolley(words, {
        cwd,
        env: { ...env, ...(at && { [signalVariable]: JSON.stringify(at) }) },
        nodeFlags: [...(at ? [signalPreload] : []), ...preloads].flatMap((url) => ['--import', url]),
      }),
    here,
    async plan() {
      const prepared = await prepareCampaign(
        'campaign.yaml',
        { environment: env, workingFolder: cwd },
        { keeps: 'files' },
      );
      return planRun(ledger.context, prepared, { again: true });
    },
    async status(run = 'latest') {
      const { stdout, stderr } = await here(['status', run, '--json']);
      return stdout === '' ? expect.fail(stderr) : JSON.parse(stdout);
    },
    async hasReceived(calls) {
      while (service.calls.length < calls) await sleep(10);
    },
    async report(upTo, outcome = 'delivered') {
      for (const call of service.calls.slice(0, upTo).filter((each) => !reported.has(each)))
        await reportCall(call, outcome);
    },
    reportCall,
    expectEachOnce(count) {
      const sentTo = service.accepted().flatMap((call) => call.recipients);
      expect(sentTo).toHaveLength(count);
      expect(new Set(sentTo).size).toBe(count);
    },
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  };
}

function contacts(recipients: number): string {
  const rows = Array.from(
    { length: recipients },
    (_, index) => `04${String(index).padStart(8, '0')},C${index % 3}`,
  );
  return ['mobile,code', ...rows, ''].join('\n');
}

function campaign(canary: string): string {
  return `campaign: night
account: sandbox
channel: sms
contacts: { file: contacts.csv, country: AU, columns: { Recipient: mobile } }
message: { Message: Hello, ChargeCode: "[[code]]" }
dispatch: { chunkSize: 1, concurrency: 4, repeat: allow }
${canary}
`;
}
