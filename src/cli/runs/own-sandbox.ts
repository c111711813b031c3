import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readCampaign } from '../../campaign/campaign.ts';
import { InputError } from '../../domain/problems.ts';
import type { RunSummary } from '../../domain/runs.ts';
import type { EngineContext } from '../../engine/context.ts';
import { readText } from '../../engine/definition-files.ts';
import { loadAccount } from '../../engine/load-definition.ts';
import { requireSummary } from '../../engine/runs/find-run.ts';
import type { Settings } from '../../engine/settings.ts';
import { closeAfter } from '../../platform/close-after.ts';
import { digestOf } from '../../platform/digest.ts';
import { openLogger } from '../../platform/logger.ts';
import { type Screen, styled } from '../../report/screen.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { type Receiver, startReceiver } from '../../server/receiver.ts';
import { observedMapping } from '../../wire/delivery-report-mapping.ts';
import { type Shell, withLedger } from '../shell.ts';
import { bar, startProgressLine } from './progress.ts';

type OwnSandbox = {
  /** Its settings name the sandbox. */
  readonly shell: Shell;
  readonly context: EngineContext;
  readonly awaitReports: (run: string) => Promise<RunSummary>;
};

export type NamedAccount = { readonly name: string; readonly where: string };

/** The account of a campaign, then those of e-mails about its runs: a trial sends nothing for real. */
export async function accountsOfCampaign(
  path: string,
  settings: Settings,
): Promise<readonly [NamedAccount, ...NamedAccount[]]> {
  const { value, locate } = readCampaign(await readText(path, settings, 'campaign'), path);
  const { account, notify = [] } = value;
  const others = notify.flatMap(({ email }, index): NamedAccount[] =>
    email?.account === undefined
      ? []
      : [{ name: email.account, where: locate(['notify', index, 'email', 'account']) }],
  );
  return [{ name: account, where: locate(['account']) }, ...others];
}

/**
 * Starts a sandbox in this process, which reports to a receiver in this process.
 *
 * @param findAccounts the account of the run, then others that must be in the sandbox too
 * @throws InputError if an account is of another service
 */
export async function withOwnSandbox(
  shell: Shell,
  findAccounts: (context: EngineContext) => Promise<readonly [NamedAccount, ...NamedAccount[]]>,
  send: (own: OwnSandbox) => Promise<void>,
): Promise<void> {
  await withLedger(shell, (context) =>
    closeAfter(async (defer) => {
      const token = newSecret();
      const accounts = await findAccounts(context);
      const [{ name: account }] = accounts;
      const receiver = await openReceiver(shell, context, account, token);
      defer(() => receiver.close());
      const sandbox = await startSandbox({
        webhook: { url: `${receiver.url}/webhook/${encodeURIComponent(account)}/${token}` },
        // The command waits for every delivery report.
        holdsSendTime: false,
        webhookRetry: 1_000,
      });
      defer(() => sandbox.close());
      const settings = sandboxSettings(shell.settings, sandbox.url);
      await requireSandboxAccounts(accounts, settings, sandbox.url);
      shell.note(`Sandbox on ${sandbox.url}: no message leaves this machine.`);
      // Reports of another sandbox do not come.
      const maxSilence = (): number => (sandbox.outstandingDeliveryReports() === 0 ? 5_000 : 60_000);
      let finished: string | undefined;
      await send({
        shell: { ...shell, settings },
        context,
        async awaitReports(run) {
          finished = run;
          const [summary] = await waitForDeliveryReports(shell, context, [run], {
            maxSilence,
            textOf: (drawn, count) => `  reports  ${drawn} ${count} delivery reports`,
          });
          if (summary === undefined) throw new Error(`run ${run} has no summary`);
          return summary;
        },
      });
      if (finished !== undefined) shell.note(nextSteps(finished, shell.noteScreen));
    }),
  );
}

const nextSteps = (run: string, screen: Screen): string => `
${styled('Next:', 'title', screen)}
  volley report run ${run}         the run in full, with its cost
  volley report contacts ${run}    every contact with its result
To send for real, add your account to campaigns/accounts.yaml, name it in the campaign, and omit --sandbox.`;

const newSecret = (): string => randomBytes(24).toString('base64url');

/** Knows one account, so that other accounts of the file need no secrets. */
function openReceiver(shell: Shell, context: EngineContext, name: string, token: string): Promise<Receiver> {
  const account = { name, tokenDigests: [digestOf(token)], trustedProxies: [], mapping: observedMapping };
  return startReceiver(context, {
    host: '127.0.0.1',
    port: 0,
    accounts: new Map([[name, account]]),
    logger: openLogger(shell.settings.environment['LOG_LEVEL'], 'warn'),
  });
}

/** The sandbox accepts any token. */
function sandboxSettings(settings: Settings, url: string): Settings {
  const { environment, workingFolder, envFiles = [] } = settings;
  return {
    environment: {
      ...environment,
      VOLLEY_SANDBOX_URL: url,
      VOLLEY_SANDBOX_TOKEN: environment['VOLLEY_SANDBOX_TOKEN'] || newSecret(),
    },
    workingFolder,
    envFiles,
    get standardInput() {
      return settings.standardInput;
    },
  };
}

async function requireSandboxAccounts(
  accounts: readonly NamedAccount[],
  settings: Settings,
  url: string,
): Promise<void> {
  for (const { name, where } of accounts) {
    const { baseUrl } = await loadAccount(name, settings, where);
    if (baseUrl === url || baseUrl.startsWith(`${url}/`)) continue;
    const what = `Account "${name}" is at ${baseUrl}, and --sandbox sends to a sandbox of its own. Nothing was sent. Use an account whose baseUrl is \${VOLLEY_SANDBOX_URL:-http://127.0.0.1:8025}, or omit --sandbox.`;
    throw new InputError([{ where, what }]);
  }
}

/**
 * Waits until no accepted recipient lacks its delivery report, none has arrived for so long, or the process is asked to
 * stop.
 *
 * @param maxSilence milliseconds, at this moment
 * @param textOf the progress line for this many reports of this many
 */
export async function waitForDeliveryReports(
  shell: Shell,
  context: EngineContext,
  runs: readonly string[],
  {
    maxSilence,
    textOf,
  }: { readonly maxSilence: () => number; readonly textOf: (drawn: string, count: string) => string },
): Promise<RunSummary[]> {
  const line = await startProgressLine(shell);
  let last = { reported: -1, at: shell.now().getTime() };
  for (;;) {
    const summaries = await Promise.all(runs.map((run) => requireSummary(context, run)));
    const reported = sum(summaries, ({ delivered, undelivered }) => delivered + undelivered);
    const missing = sum(summaries, ({ accepted }) => accepted);
    const now = shell.now().getTime();
    if (reported > last.reported) last = { reported, at: now };
    const total = reported + missing;
    const text = (): string => textOf(bar(reported, total), `${reported}/${total}`);
    if (missing === 0 || shell.stop.aborted || now - last.at > maxSilence()) {
      line.done(text());
      return summaries;
    }
    line.show(text);
    await sleep(200, undefined, { signal: shell.stop }).catch(() => undefined);
  }
}

function sum(
  summaries: readonly RunSummary[],
  count: (recipients: RunSummary['recipients']) => number,
): number {
  return summaries.reduce((total, { recipients }) => total + count(recipients), 0);
}
