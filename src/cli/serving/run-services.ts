import { once } from 'node:events';
import { noSharing } from '../../domain/account-sharing.ts';
import type { EngineContext } from '../../engine/context.ts';
import { defaultPolling, pollPeriodically } from '../../engine/delivery-reports/poll-periodically.ts';
import {
  loadPollableAccounts,
  loadReceiverAccounts,
} from '../../engine/delivery-reports/receiver-accounts.ts';
import { drainDeadlines } from '../../engine/dispatch/drain.ts';
import { loadAccounts } from '../../engine/load-definition.ts';
import { closeAfter, type Defer } from '../../platform/close-after.ts';
import { openLogger } from '../../platform/logger.ts';
import { createMetrics } from '../../server/metrics.ts';
import { createOperations, startOperations } from '../../server/operations.ts';
import { type Receiver, type ReceiverOptions, startReceiver } from '../../server/receiver.ts';
import { drainText } from '../runs/dispatch-and-print.ts';
import { type Shell, withLedger } from '../shell.ts';
import { type ApiChoice, openApi, readUrl } from './open-api.ts';
import { openPlanner } from './planner/planner.ts';
import { leaveAfter, type Work, workUntilStopped } from './work-until-stopped.ts';

type ServeOptions = Work &
  ApiChoice & {
    readonly host: string;
    readonly port: number;
    readonly receiver: boolean;
    readonly api: boolean;
    readonly metricsHost?: string;
    readonly metricsName?: readonly string[];
    readonly metricsPort?: number;
  };

export async function runServices(shell: Shell, options: ServeOptions): Promise<void> {
  const { environment } = shell.settings;
  const receiving: ReceiverSetup = {
    publicUrl: readUrl(shell, 'VOLLEY_PUBLIC_URL'),
    accounts: options.receiver ? await loadReceiverAccounts(shell.settings) : new Map(),
    sharing: options.receiver ? (await loadAccounts(shell.settings)).sharing : noSharing,
    logger: openLogger(environment['LOG_LEVEL'], 'info'),
  };
  await withLedger(shell, (context) =>
    closeAfter((defer) => serve(shell, context, { options, receiving }, defer)),
  );
}

async function serve(
  shell: Shell,
  context: EngineContext,
  { options, receiving }: { readonly options: ServeOptions; readonly receiving: ReceiverSetup },
  defer: Defer,
): Promise<void> {
  shell.drainOnStop(
    () => `${drainText()} Open calls are answered, and received delivery reports are stored.`,
  );
  const { logger } = receiving;
  const failed = new AbortController();
  const stop = AbortSignal.any([shell.stop, failed.signal]);
  const deadlines = drainDeadlines(stop);
  const metrics = createMetrics({ includeNode: true });
  const operations = createOperations(context, metrics, () => stop.aborted);
  const { metricsHost = '127.0.0.1', metricsName = [], metricsPort } = options;
  // Closed in reverse order: the receiver and monitoring work until everything else has ended.
  defer(async () => deadlines.clear());
  leaveAfter(deadlines.giveUp, shell, logger);

  if (metricsPort !== undefined) {
    const names = { host: '--metrics-host', port: '--metrics-port' };
    const address = { host: metricsHost, port: metricsPort, options: names };
    const { url, close } = await startOperations(operations, address, metricsName);
    defer(close);
    shell.note(`Monitoring: ${url}/healthz, /readyz, /metrics`);
  }
  const planner = openPlanner(context, shell.settings, options.campaigns, logger);
  defer(planner.close);
  const parts: Promise<void>[] = [];
  if (options.receiver) {
    const monitoring = metricsPort === undefined ? { operations } : {};
    const address = { host: options.host, port: options.port, ...monitoring };
    const receiver = await openReceiver(shell, context, receiving, {
      ...address,
      observer: metrics.deliveryReports,
    });
    defer(() => receiver.close(deadlines.giveUp));
    parts.push(pollMissing(shell, context, receiving, { wake: receiver.wake, stop }));
  } else if (metricsPort === undefined) {
    const { url, close } = await startOperations(operations, options, 'this machine');
    defer(close);
    shell.note(`Monitoring, for this machine: ${url}/healthz, /readyz, /metrics`);
  }
  if (options.api)
    defer(await openApi(shell, context, options, { logger, metrics, planner, cutOff: deadlines.giveUp }));
  const tools = { logger, observer: metrics.dispatch, stop, deadlines, planner };
  parts.push(workUntilStopped(shell, context, options, tools));
  // A failed part ends the process, which systemd or a container restarts.
  for (const part of parts) part.catch((error: unknown) => failed.abort(error));
  if (!stop.aborted) await once(stop, 'abort');
  await Promise.allSettled(parts);
  if (failed.signal.aborted) throw failed.signal.reason;
}

type ReceiverSetup = Required<Pick<ReceiverOptions, 'accounts' | 'sharing' | 'logger'>> & {
  readonly publicUrl: string | undefined;
};

/** @throws InputError when the port is not available */
async function openReceiver(
  shell: Shell,
  context: EngineContext,
  { accounts, sharing, publicUrl, logger }: ReceiverSetup,
  options: Omit<ReceiverOptions, 'accounts' | 'sharing' | 'logger'>,
): Promise<Receiver> {
  const receiver = await startReceiver(context, { ...options, accounts, sharing, logger });
  for (const account of accounts.keys()) {
    const path = `/webhook/${encodeURIComponent(account)}/<its webhookToken>`;
    shell.note(`Delivery reports of account ${account}: POST ${publicUrl ?? receiver.url}${path}`);
  }
  return receiver;
}

async function pollMissing(
  shell: Shell,
  context: EngineContext,
  { accounts, logger }: ReceiverSetup,
  { wake, stop }: Pick<Receiver, 'wake'> & { readonly stop: AbortSignal },
): Promise<void> {
  const { accounts: pollable, problems } = await loadPollableAccounts(shell.settings, accounts.keys());
  for (const { name } of pollable)
    shell.note(
      `Missing delivery reports of account ${name} are looked up, from five minutes to six hours after acceptance.`,
    );
  for (const problem of problems) logger.warn({ problem }, 'missing delivery reports cannot be looked up');
  await pollPeriodically(context, pollable, { ...defaultPolling, onReports: wake, logger, stop });
}
