import { loadAccount } from '../../src/engine/load-definition.ts';
import { findCommand } from '../../src/engine/notify/find-command.ts';
import { runNotifier } from '../../src/engine/notify/notifier.ts';
import type { NotifyOptions } from '../../src/engine/notify/send-notification.ts';
import { planRun } from '../../src/engine/plan/plan-run.ts';
import { prepareCampaign } from '../../src/engine/plan/prepare-campaign.ts';
import type { RunEnd } from '../../src/engine/runs/execute-run.ts';
import type { Settings } from '../../src/engine/settings.ts';
import { type ListedNotification, listRunNotifications } from '../../src/ledger/notifications/list.ts';
import { openLogger } from '../../src/platform/logger.ts';
import { formatNotificationMail } from '../../src/report/notification-mail.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { execute } from './execute.ts';
import { openTestLedger, type TestLedger } from './ledger.ts';
import { startWebhookPeer, type WebhookPeer, webhookSecret } from './webhook-peer.ts';
import { accountsYaml, contactsCsv, makeWorkspace, smsCampaignYaml, type Workspace } from './workspace.ts';

export type NotifyScene = AsyncDisposable & {
  readonly opened: TestLedger;
  readonly workspace: Workspace;
  readonly peer: WebhookPeer;
  readonly sandbox: Sandbox;
  readonly settings: Settings;
  readonly tools: NotifyOptions;
  readonly log: string[];
  /** Plans the campaign with this `notify`. */
  readonly plan: (notify: string, campaign?: string) => Promise<string>;
  readonly send: (run: string) => Promise<RunEnd>;
  /** Sends all notifications that are due. */
  readonly notifyAll: (tools?: Partial<NotifyOptions>) => Promise<void>;
  /** Returns the run that is the e-mail of a run. */
  readonly mailOf: (run: string) => Promise<string>;
  /** Ages all notifications by so many minutes. */
  readonly passMinutes: (minutes: number) => Promise<unknown>;
  readonly notifications: (run: string) => Promise<ListedNotification[]>;
};

/** A sandbox, a webhook, and a campaign of four contacts. */
export async function openNotifyScene(): Promise<NotifyScene> {
  await using stack = new AsyncDisposableStack();
  const opened = stack.adopt(await openTestLedger(), (it) => it.close());
  const peer = stack.use(await startWebhookPeer());
  const workspace = stack.use(
    await makeWorkspace({ 'accounts.yaml': accountsYaml, 'contacts.csv': contactsCsv(4) }),
  );
  const journal = `${workspace.folder}/journal.jsonl`;
  const sandbox = stack.adopt(await startSandbox({ token: 'sandbox-token', journal }), (it) => it.close());
  const settings: Settings = {
    workingFolder: workspace.folder,
    environment: {
      ...process.env,
      VOLLEY_ACCOUNTS: 'accounts.yaml',
      VOLLEY_SANDBOX_URL: sandbox.url,
      VOLLEY_SANDBOX_TOKEN: 'sandbox-token',
      NOTIFY_URL: peer.url,
      NOTIFY_SECRET: webhookSecret,
      DATABASE_URL: opened.url,
    },
  };
  const accountNamed = (name: string) => loadAccount(name, settings);
  const tools: NotifyOptions = {
    settings,
    campaigns: '.',
    ownCampaign: undefined,
    findCommand,
    accountNamed,
    writeMail: formatNotificationMail,
  };
  const log: string[] = [];
  const logger = openLogger('info', 'info', { write: (line) => void log.push(line) });
  const { context } = opened;
  const never = new AbortController().signal;
  const scene = {
    opened,
    workspace,
    peer,
    sandbox,
    settings,
    tools,
    log,
    plan: async (notify: string, campaign = smsCampaignYaml) => {
      await workspace.write('campaign.yaml', `${campaign}notify:\n${notify}`);
      const prepared = await prepareCampaign('campaign.yaml', settings, { keeps: 'files' });
      return planRun(context, prepared);
    },
    send: async (run: string) => (await execute(context, run, await accountNamed('sandbox'))).end,
    notifyAll: (others: Partial<NotifyOptions> = {}) =>
      runNotifier(context, {
        tools: { ...tools, ...others },
        pollInterval: undefined,
        logger,
        stop: never,
        cutOff: never,
      }),
    passMinutes: (minutes: number) => ageNotifications(opened, minutes),
    mailOf: (run: string) => findMailRun(opened, run),
    notifications: (run: string) => listRunNotifications(opened.ledger.pool, run),
  };
  const whole = stack.move();
  return { ...scene, [Symbol.asyncDispose]: () => whole.disposeAsync() };
}

function ageNotifications({ ledger }: TestLedger, minutes: number): Promise<unknown> {
  return ledger.pool.query(
    `UPDATE notifications
     SET created_at = created_at - make_interval(mins => $1), due_at = due_at - make_interval(mins => $1)`,
    [minutes],
  );
}

async function findMailRun({ ledger }: TestLedger, run: string): Promise<string> {
  const notifications = await listRunNotifications(ledger.pool, run);
  return notifications.find(({ mailRun }) => mailRun !== null)?.mailRun ?? 'none';
}

/** `notify` with one webhook. */
export const webhookNotify = (on = 'completed, failures, paused, missed'): string =>
  `  - { on: [${on}], webhook: { url: "\${NOTIFY_URL}", secret: "\${NOTIFY_SECRET}" } }\n`;
