import { fileURLToPath } from 'node:url';
import { planRun } from '../../src/engine/plan/plan-run.ts';
import { prepareCampaign } from '../../src/engine/plan/prepare-campaign.ts';
import { type AcceptingService, type PeerBehaviour, startAcceptingService } from './accepting-service.ts';
import { openTestLedger, type TestLedger } from './ledger.ts';
import { type SignalAtPoint, signalVariable } from './signal-points.ts';
import { type Ended, type Started, type StartedInProcess, startInProcess, startVolley } from './volley.ts';
import { accountsYaml, makeWorkspace, type Workspace } from './workspace.ts';

/** The process sends itself the signal that `signalVariable` names. */
export const signalPreload = fileURLToPath(new URL('./signal-preload.ts', import.meta.url));

export type DispatchScene = AsyncDisposable & {
  readonly ledger: TestLedger;
  readonly peer: AcceptingService;
  readonly workspace: Workspace;
  readonly onUnknown: 'hold' | 'resend';
  readonly environment: Readonly<Record<string, string>>;
  /** @param at where the process kills or stops itself */
  readonly start: (words: readonly string[], at?: SignalAtPoint) => Started;
  /** In this process, if the test does not kill it. */
  readonly runHere: (words: readonly string[]) => Promise<Ended>;
  /** For commands that the test stops or reads while they run. */
  readonly startHere: (words: readonly string[]) => StartedInProcess;
  /** Returns the run's id. */
  readonly plan: () => Promise<string>;
};

export type SceneOptions = {
  readonly requests: number;
  readonly concurrency: number;
  readonly onUnknown?: 'hold' | 'resend';
  readonly peer?: Partial<PeerBehaviour>;
  /** By default a database on the test run's server. */
  readonly ledger?: Promise<TestLedger>;
};

/** The campaign's requests have one to five recipients. */
export async function openDispatchScene({
  requests,
  concurrency,
  onUnknown = 'hold',
  peer: behaviour = {},
  ledger: opening = openTestLedger(),
}: SceneOptions): Promise<DispatchScene> {
  await using opened = new AsyncDisposableStack();
  const workspace = opened.use(
    await makeWorkspace({
      'accounts.yaml': accountsYaml,
      'contacts.csv': contactsInGroups(requests),
      'campaign.yaml': campaign(concurrency, onUnknown),
    }),
  );
  const ledger = opened.adopt(await opening, (it) => it.close());
  const peer = opened.use(await startAcceptingService(behaviour));
  const cwd = workspace.folder;
  const env = {
    DATABASE_URL: ledger.url,
    VOLLEY_HOME: `${cwd}/.volley`,
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    VOLLEY_SANDBOX_URL: peer.url,
    VOLLEY_SANDBOX_TOKEN: 'any',
  };
  const start: DispatchScene['start'] = (words, at) =>
    startVolley(words, {
      cwd,
      env: { ...env, ...(at ? { [signalVariable]: JSON.stringify(at) } : {}) },
      nodeFlags: at ? ['--import', signalPreload] : [],
    });
  // Logs would appear among the test results.
  const begin: DispatchScene['startHere'] = (words) =>
    startInProcess(words, { cwd, env: { ...env, LOG_LEVEL: 'silent' } });
  const plan: DispatchScene['plan'] = async () => {
    const settings = { environment: env, workingFolder: cwd };
    const prepared = await prepareCampaign('campaign.yaml', settings, { keeps: 'files' });
    return planRun(ledger.context, prepared, { again: true });
  };
  const whole = opened.move();
  return {
    ledger,
    peer,
    workspace,
    onUnknown,
    environment: env,
    start,
    runHere: (words) => begin(words).ended,
    startHere: begin,
    plan,
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  };
}

function campaign(concurrency: number, onUnknown: string): string {
  return `campaign: night
account: sandbox
channel: sms
contacts: { file: contacts.csv, country: AU, columns: { Recipient: mobile } }
message: { Message: "Hello [[name]]", ChargeCode: "[[code]]" }
dispatch: { chunkSize: 5, concurrency: ${concurrency}, retries: 10, onUnknown: ${onUnknown}, resends: 10 }
`;
}

/** One ChargeCode per request. */
function contactsInGroups(groups: number): string {
  const lines = ['mobile,name,code'];
  for (let group = 0; group < groups; group++) {
    for (let member = 0; member <= group % 5; member++) {
      lines.push(`04${String(lines.length).padStart(8, '0')},Ann ${member},C${group}`);
    }
  }
  return `${lines.join('\n')}\n`;
}
