import { once } from 'node:events';
import type { StartRun } from '../engine/access/start-by-key.ts';
import type { EngineContext } from '../engine/context.ts';
import { loadReceiverAccounts } from '../engine/delivery-reports/receiver-accounts.ts';
import { drainDeadlines } from '../engine/dispatch/drain.ts';
import { loadAccounts } from '../engine/load-definition.ts';
import { readLocation } from '../ledger/location/location.ts';
import { namesThisMachine } from '../platform/address-list.ts';
import { closeAfter, type Defer } from '../platform/close-after.ts';
import { digestOf } from '../platform/digest.ts';
import { type Logger, openLogger } from '../platform/logger.ts';
import { createMetrics, type ProcessMetrics } from '../server/metrics.ts';
import { createOperations, startOperations } from '../server/operations.ts';
import { isPlainHttp } from '../wire/loopback.ts';
import { accountLoader } from './account-loader.ts';
import { drainText } from './dispatch-and-print.ts';
import { leaveAfter } from './leave-after.ts';
import { openPages } from './open-pages.ts';
import { openReceiver, pollMissing, type ReceiverSetup } from './open-receiver.ts';
import { openPlanner } from './planner/planner.ts';
import { readPublicUrl } from './public-url.ts';
import { type Shell, withLedger } from './shell.ts';
import { type Work, workUntilStopped } from './work-until-stopped.ts';

export type ServeOptions = Work & {
  readonly host: string;
  readonly port: number;
  readonly receiver: boolean;
  readonly api: boolean;
  readonly dashboard: boolean;
  readonly apiHost: string;
  readonly apiPort: number;
  readonly metricsHost?: string;
  readonly metricsName?: readonly string[];
  readonly metricsPort?: number;
};

/** Runs what `volley serve` is asked for, until it is stopped. */
export async function runServices(shell: Shell, options: ServeOptions): Promise<void> {
  const { environment } = shell.settings;
  const receiving: ReceiverSetup = {
    publicUrl: readPublicUrl(environment['VOLLEY_PUBLIC_URL']),
    ...(options.receiver
      ? {
          accounts: await loadReceiverAccounts(shell.settings),
          sharing: (await loadAccounts(shell.settings)).sharing,
        }
      : { accounts: new Map() }),
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
    defer(
      await openApi(shell, context, options, {
        logger,
        metrics,
        startRun: planner.startRun,
        cutOff: deadlines.giveUp,
      }),
    );
  const tools = { logger, observer: metrics.dispatch, stop, deadlines, planner };
  parts.push(workUntilStopped(shell, context, options, tools));
  // A failed part ends the process, which systemd or a container restarts.
  for (const part of parts) part.catch((error: unknown) => failed.abort(error));
  if (!stop.aborted) await once(stop, 'abort');
  await Promise.allSettled(parts);
  if (failed.signal.aborted) throw failed.signal.reason;
}

/** @returns a function that closes the API and the dashboard */
async function openApi(
  shell: Shell,
  context: EngineContext,
  { apiHost: host, apiPort: port, campaigns: folder, dashboard }: ServeOptions,
  {
    metrics,
    cutOff,
    ...shared
  }: {
    readonly logger: Logger;
    readonly metrics: ProcessMetrics;
    readonly startRun: StartRun;
    readonly cutOff: AbortSignal;
  },
): Promise<() => Promise<void>> {
  // Only a process with the API loads its schemas.
  const { apiPath, startApi } = await import('../server/api/api.ts');
  const scheduleSource = { folder, settings: shell.settings, accountNamed: accountLoader(shell) };
  const tools = { ...shared, scheduleSource };
  const pages = dashboard
    ? await openPages(shell, context, {
        host,
        name: await nameOf(context),
        ...tools,
        onSignIn: metrics.signIns,
      })
    : undefined;
  const { url, close } = await startApi(context, {
    host,
    port,
    options: { host: '--api-host', port: '--api-port' },
    api: { ...tools, observer: metrics.api },
    onCutOff: metrics.apiCutOff,
    addPages: pages?.add,
  });
  const publicUrl = readPublicUrl(shell.settings.environment['VOLLEY_DASHBOARD_URL'], 'VOLLEY_DASHBOARD_URL');
  const risk = unencryptedRisk(host, publicUrl);
  if (risk !== undefined) {
    shell.note(`Warning: ${risk}`);
    shared.logger.warn({ host }, risk);
  }
  shell.note(`API: ${url}${apiPath}`);
  if (pages) shell.note(`Dashboard: ${pages.publicUrl ?? pages.addressAt(url)}/`);
  return () => close(cutOff);
}

/** In a sentence: how tokens and sessions may cross the network unencrypted; undefined when a proxy adds TLS. */
function unencryptedRisk(host: string, publicUrl: string | undefined): string | undefined {
  if (publicUrl !== undefined && isPlainHttp(new URL(publicUrl)))
    return 'VOLLEY_DASHBOARD_URL is http:, so tokens and pages cross the network unencrypted. Put a proxy with TLS in front, and set its https: address.';
  if (namesThisMachine(host.toLowerCase()) || publicUrl?.startsWith('https:')) return undefined;
  return `Other machines reach the API at ${host} without TLS, so tokens and pages cross the network unencrypted. Put a proxy with TLS in front, and set VOLLEY_DASHBOARD_URL to its https: address; or omit --api-host.`;
}

/** The same after each start, so that it can be kept as a bookmark. */
async function nameOf({ ledger }: EngineContext): Promise<string> {
  const { ledger: id } = await readLocation(ledger.pool);
  return digestOf(`dashboard of ${id}`).toString('hex').slice(0, 32);
}
