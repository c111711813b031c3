import { once } from 'node:events';
import type { Command } from 'commander';
import { InputError } from '../../domain/problems.ts';
import type { StartRun } from '../../engine/access/start-by-key.ts';
import type { EngineContext } from '../../engine/context.ts';
import { accountSharing, receiverAccounts } from '../../engine/delivery-reports/receiver-accounts.ts';
import { drainDeadlines } from '../../engine/dispatch/drain.ts';
import { type Logger, openLogger } from '../../platform/logger.ts';
import { type ApiObserver, createMetrics } from '../../server/metrics.ts';
import { createOperations, startOperations } from '../../server/operations.ts';
import { accountLoader } from '../account-loader.ts';
import { drainText } from '../dispatch-and-print.ts';
import { leaveAfter } from '../leave-after.ts';
import { openReceiver, pollMissing, type ReceiverSetup } from '../open-receiver.ts';
import { campaignsOption, parsePort } from '../options.ts';
import { openPlanner } from '../planner/planner.ts';
import { type Shell, withLedger } from '../shell.ts';
import { type Work, workUntilStopped } from '../work-until-stopped.ts';

type ServeOptions = Work & {
  readonly host: string;
  readonly port: number;
  readonly receiver: boolean;
  readonly api: boolean;
  readonly apiHost: string;
  readonly apiPort: number;
  readonly metricsHost?: string;
  readonly metricsName?: readonly string[];
  readonly metricsPort?: number;
};

const paths = `
On its port it answers, besides the webhooks:
  GET /healthz   200 as long as the process lives
  GET /readyz    200, or 503 with what is wrong: the database, its migrations, or that the process is to end
  GET /metrics   figures for Prometheus
The last two only to programs of this machine that come through no proxy. With --metrics-port they are there instead, for
every caller that reaches that address and calls it by an address, by this machine's host name or by a --metrics-name.

The API has a port of its own, for this machine alone: https:// and the way in from elsewhere are a proxy's. It answers
nothing without a token (volley token create); docs/api.md says what it does.

Ctrl-C drains: what is on its way is recorded, slices are left to other workers, and reports are received until then.`;

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Everything in one process, until it is stopped: receives delivery reports for every account with a webhookToken, answers the API, begins campaigns whose time has come, helps to send whatever runs there are, and tells what became of them (notify).',
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on; 0 for any free one', parsePort, 8026)
    .option('--no-receiver', 'receive no delivery reports')
    .option('--no-api', 'no API')
    .option('--api-host <address>', 'address that the API listens on', '127.0.0.1')
    .option('--api-port <number>', 'its port; 0 for any free one', parsePort, 8027)
    .option('--no-worker', 'send nothing, and tell nobody')
    .option('--no-schedules', 'begin nothing')
    .addOption(campaignsOption(shell))
    .option('--metrics-host <address>', 'address of a listener for monitoring alone; with --metrics-port')
    .option('--metrics-name <name...>', 'names by which callers of the monitoring listener know this machine')
    .option('--metrics-port <number>', 'its port; 0 for any free one', parsePort)
    .addHelpText('after', paths)
    .action(async (options: ServeOptions) => {
      const { environment } = shell.settings;
      checkOptions(options);
      const receiving: ReceiverSetup = {
        publicUrl: readPublicUrl(environment['VOLLEY_PUBLIC_URL']),
        ...(options.receiver
          ? {
              accounts: await receiverAccounts(shell.settings),
              sharing: await accountSharing(shell.settings),
            }
          : { accounts: new Map() }),
        logger: openLogger(environment['LOG_LEVEL'], 'info'),
      };
      await withLedger(shell, (context) => serve(shell, context, options, receiving));
    });
}

function checkOptions({ receiver, api, worker, schedules, ...monitoring }: ServeOptions): void {
  const { metricsHost, metricsName, metricsPort } = monitoring;
  if (!receiver && !api && !worker && !schedules) {
    const what =
      'Nothing is left to do: leave one of --no-receiver, --no-api, --no-worker and --no-schedules out.';
    throw new InputError([{ where: 'serve', what }]);
  }
  if (metricsPort !== undefined) return;
  const where = metricsHost === undefined ? '--metrics-name' : '--metrics-host';
  if (metricsHost !== undefined || metricsName !== undefined)
    throw new InputError([{ where, what: 'Expected --metrics-port with it.' }]);
}

async function serve(shell: Shell, context: EngineContext, options: ServeOptions, receiving: ReceiverSetup) {
  shell.drainOnStop(
    () => `${drainText()} Calls that have come in are answered, and reports that were received are kept.`,
  );
  const { logger } = receiving;
  const failed = new AbortController();
  const stop = AbortSignal.any([shell.stop, failed.signal]);
  const deadlines = drainDeadlines(stop);
  const metrics = createMetrics({ includeNode: true });
  const operations = createOperations(context, metrics, () => stop.aborted);
  const { metricsHost = '127.0.0.1', metricsName = [], metricsPort } = options;
  // What is opened first is closed last: reports are received until all else is done, and monitoring hears of that.
  await using opened = new AsyncDisposableStack();
  opened.defer(async () => deadlines.clear());
  leaveAfter(deadlines.giveUp, shell, logger);

  if (metricsPort !== undefined) {
    const names = { host: '--metrics-host', port: '--metrics-port' };
    const address = { host: metricsHost, port: metricsPort, options: names };
    const { url, close } = await startOperations(operations, address, metricsName);
    opened.defer(close);
    shell.note(`Monitoring: ${url}/healthz, /readyz, /metrics`);
  }
  const planner = openPlanner(context, shell.settings, options.campaigns, logger);
  opened.defer(planner.close);
  const parts: Promise<void>[] = [];
  if (options.receiver) {
    const usual = metricsPort === undefined ? { operations } : {};
    const address = { host: options.host, port: options.port, ...usual };
    const receiver = await openReceiver(shell, context, receiving, { ...address, observer: metrics.reports });
    opened.defer(() => receiver.close(deadlines.giveUp));
    parts.push(pollMissing(shell, context, receiving, receiver, stop));
  } else if (metricsPort === undefined) {
    const { url, close } = await startOperations(operations, options, 'this machine');
    opened.defer(close);
    shell.note(`Monitoring, for this machine: ${url}/healthz, /readyz, /metrics`);
  }
  if (options.api)
    opened.defer(
      await openApi(
        shell,
        context,
        options,
        { logger, observer: metrics.api, startRun: planner.startRun },
        deadlines.giveUp,
      ),
    );
  const tools = { logger, observer: metrics.dispatch, stop, deadlines, planner };
  parts.push(workUntilStopped(shell, context, options, tools));
  // One that fails ends the others, and the process: who keeps it running starts it again.
  for (const part of parts) part.catch((error: unknown) => failed.abort(error));
  if (!stop.aborted) await once(stop, 'abort');
  await Promise.allSettled(parts);
  if (failed.signal.aborted) throw failed.signal.reason;
}

/** @returns what closes it, and cuts off at the signal what it is not done with */
async function openApi(
  shell: Shell,
  context: EngineContext,
  { apiHost: host, apiPort: port, campaigns: folder }: ServeOptions,
  tools: { readonly logger: Logger; readonly observer: ApiObserver; readonly startRun: StartRun },
  cutOff: AbortSignal,
): Promise<() => Promise<void>> {
  // What describes and checks its routes is loaded by who wants it.
  const { apiPath, startApi } = await import('../../server/api/api.ts');
  const scheduleSource = { folder, settings: shell.settings, accountNamed: accountLoader(shell) };
  const names = { host: '--api-host', port: '--api-port' };
  const { url, close } = await startApi(context, { host, port, options: names, scheduleSource, ...tools });
  shell.note(`API: ${url}${apiPath}`);
  return () => close(cutOff);
}

/**
 * The address that the receiver is reached at from outside, without a trailing slash.
 *
 * @throws InputError for what is none
 */
export function readPublicUrl(written: string | undefined): string | undefined {
  if (!written) return undefined;
  const url = URL.parse(written);
  const isPlain = url?.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (url === null || !/^https?:$/.test(url.protocol) || !isPlain) {
    // Not shown: it may hold a password.
    const what = 'expected an http:// or https:// address without user, password, query and fragment';
    throw new InputError([{ where: 'VOLLEY_PUBLIC_URL', what }]);
  }
  return written.replace(/\/+$/, '');
}
