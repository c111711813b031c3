import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { RunSummary } from '../domain/runs.ts';
import type { EngineContext } from '../engine/context.ts';
import { loadReceiverAccounts } from '../engine/delivery-reports/receiver-accounts.ts';
import { loadAccounts } from '../engine/load-definition.ts';
import { prepareToStart } from '../engine/plan/start-campaign.ts';
import type { Settings } from '../engine/settings.ts';
import { closeAfter, type Defer } from '../platform/close-after.ts';
import { openLogger } from '../platform/logger.ts';
import { commandToType, packageFolder } from '../platform/package-folder.ts';
import { findHome, projectFolder } from '../platform/project.ts';
import { formatRunSummary } from '../report/run/run-summary.ts';
import { startSandbox } from '../sandbox/sandbox.ts';
import { startReceiver } from '../server/receiver.ts';
import { writeBilling } from './commands/billing-report.ts';
import { sheetWriter } from './output/write-report.ts';
import { dispatchWithProgress } from './runs/dispatch-and-print.ts';
import { waitForDeliveryReports } from './runs/own-sandbox.ts';
import { startWithProgress } from './runs/start-with-progress.ts';
import { openPagesText, showOwnDashboard, signInText } from './serving/own-dashboard.ts';
import { type Shell, withNewLedger } from './shell.ts';

export async function demonstrate(
  shell: Shell,
  how: Pick<HowToRun, 'everyInterface' | 'shown'>,
): Promise<void> {
  const { workingFolder } = shell.settings;
  const project = findHome(shell.settings.environment, workingFolder) ?? join(workingFolder, '.volley');
  // Its own ledger, also with a DATABASE_URL, so that it changes no other one.
  const home = join(project, 'demo');
  const environment = {
    ...shell.settings.environment,
    VOLLEY_HOME: home,
    DATABASE_URL: undefined,
    DATABASE_READ_URL: undefined,
  };
  const demoShell = { ...shell, settings: { environment, workingFolder } };
  await withNewLedger(demoShell, (context) =>
    closeAfter((defer) => runDemo(demoShell, context, { home, ...how, asked: shell.settings }, defer)),
  );
}

const mainCampaigns = ['outage-sms.yaml', 'statement-email.yaml', 'works-fax.yaml'];

const interfacesFolder = 'interfaces';

/** Milliseconds without a delivery report. */
const maxSilence = 60_000;

const suppressedByDemo = `
Suppressed are recipients of an earlier demo: their delivery reports said "Destination is blacklisted". Volley no longer
sends to such a number.`;

function nextCommands(
  home: string,
  { environment, workingFolder }: Settings,
  runs: readonly string[],
): string {
  const path = projectFolder(workingFolder) === workingFolder ? relative(workingFolder, home) : home;
  const unset = environment['DATABASE_URL'] ? 'DATABASE_URL= ' : '';
  const volley = `${unset}VOLLEY_HOME=${path} ${commandToType}`;
  return [
    "The report by ChargeCode too, and all runs of the demo's ledger:",
    `  ${volley} billing report --by SubAccount,ChargeCode --run ${runs.join(' ')}`,
    `  ${volley} runs`,
  ].join('\n');
}

type HowToRun = {
  readonly everyInterface: boolean;
  /** Whether a dashboard shows it, slowly enough to watch. */
  readonly shown: boolean;
  readonly asked: Settings;
};

async function runDemo(
  shell: Shell,
  context: EngineContext,
  { home, everyInterface, shown, asked }: HowToRun & { readonly home: string },
  defer: Defer,
): Promise<void> {
  const workingFolder = join(packageFolder, 'campaigns');
  const secret = (): string => randomBytes(24).toString('base64url');
  const sandboxToken = secret();
  const environment = {
    ...shell.settings.environment,
    VOLLEY_ACCOUNTS: join(workingFolder, 'accounts.yaml'),
    VOLLEY_SANDBOX_TOKEN: sandboxToken,
    VOLLEY_WEBHOOK_TOKEN: secret(),
  };
  const accounts = await loadReceiverAccounts({ environment, workingFolder });
  const { sharing } = await loadAccounts({ environment, workingFolder });
  const journal = join(home, 'sandbox-journal.jsonl');

  const logger = openLogger(shell.settings.environment['LOG_LEVEL'], 'warn');
  const receiver = await startReceiver(context, {
    host: '127.0.0.1',
    port: 0,
    accounts,
    sharing,
    logger,
  });
  defer(() => receiver.close());
  const webhook = { url: `${receiver.url}/webhook/sandbox/${environment.VOLLEY_WEBHOOK_TOKEN}` };
  const sandbox = await startSandbox({
    token: sandboxToken,
    // The examples have a SendTime of next week, and the demo waits for every delivery report.
    holdsSendTime: false,
    journal,
    webhook,
    latency: shown ? 300 : 20,
    undeliveredRate: 0.04,
    deliveryDelay: shown ? 3_000 : 200,
    webhookRetry: 1_000,
  });
  defer(() => sandbox.close());
  const settings = { environment: { ...environment, VOLLEY_SANDBOX_URL: sandbox.url }, workingFolder };
  shell.print(
    `The sandbox listens on ${sandbox.url}, the receiver of delivery reports on ${receiver.url}.\n`,
  );
  if (shown) {
    const dashboard = { port: 0, folder: workingFolder, logger };
    const address = await showOwnDashboard({ ...shell, settings }, context, dashboard, defer);
    shell.note(`Watch it in a browser. ${signInText}\n${address}\n`);
  }
  const files = everyInterface ? await interfaceCampaigns(workingFolder) : mainCampaigns;
  const runs = await runCampaigns(shell, context, settings, files);
  const summaries = await waitForDeliveryReports(shell, context, runs, {
    maxSilence: () => maxSilence,
    textOf: (drawn, count) => `delivery reports ${drawn} ${count}\n`,
  });
  for (const summary of summaries) shell.print(formatRunSummary(summary, shell.screen));
  if (summaries.some(({ contacts }) => contacts.suppressed > 0)) shell.print(suppressedByDemo);
  shell.print('');
  const query = {
    by: ['SubAccount'] as const,
    from: null,
    until: null,
    timeZone: 'UTC',
    filter: { run: runs },
  };
  await writeBilling(context, query, sheetWriter(shell, {}, 'table'));
  shell.print(`\nEvery request the sandbox received is in ${journal}.`);
  shell.print(nextCommands(home, asked, runs));
  if (!summaries.every(isSettled)) shell.exitWith(3);
  if (shown) await waitForStop(shell);
}

async function waitForStop(shell: Shell): Promise<void> {
  if (shell.stop.aborted) return;
  shell.drainOnStop(() => openPagesText);
  shell.note('\nThe dashboard stays until Ctrl-C.');
  await once(shell.stop, 'abort');
}

async function interfaceCampaigns(workingFolder: string): Promise<string[]> {
  const names = await readdir(join(workingFolder, interfacesFolder));
  return names
    .filter((name) => name.endsWith('.yaml'))
    .toSorted()
    .map((name) => `${interfacesFolder}/${name}`);
}

async function runCampaigns(
  shell: Shell,
  context: EngineContext,
  settings: Settings,
  files: readonly string[],
): Promise<string[]> {
  const runs: string[] = [];
  for (const file of files) {
    const start = { path: file, settings };
    const prepared = await prepareToStart(start);
    const { campaign, channel } = prepared.campaign.value;
    shell.note(`${campaign} (${channel}, campaigns/${file})`);
    const request = { ...start, checked: prepared };
    const { run } = await startWithProgress(shell, context, request, () => ({ again: true }));
    const end = await dispatchWithProgress(shell, context, { run, account: prepared.account });
    runs.push(run);
    if (end.kind !== 'finished') break;
  }
  return runs;
}

function isSettled({ requests, recipients }: RunSummary): boolean {
  return (
    requests.accepted === requests.total && recipients.delivered + recipients.undelivered === recipients.total
  );
}
