import { servePorts } from '../../domain/ports.ts';
import { InputError } from '../../domain/problems.ts';
import { defineCommand, flag, option } from '../command.ts';
import { parsePort } from '../option-readers.ts';
import { campaignsFolder, campaignsOption } from '../options.ts';

export const command = defineCommand({
  description:
    'Runs everything in one process until it is stopped: receives delivery reports, answers the API, shows the dashboard, starts scheduled campaigns, sends runs and notifications.',
  details: `Besides webhooks, its port answers:
  GET /healthz   200 while the process runs
  GET /readyz    200, or 503 with the problem: the database, its migrations, or a process that drains
  GET /metrics   metrics for Prometheus
/readyz and /metrics answer only programs of this machine, and only without a proxy. With --metrics-port they move to that
port, and answer every caller that uses an IP address, this machine's host name or a --metrics-name.

The API and the dashboard have a port of their own, for this machine only; put a proxy in front of it for https:// and
other machines, and name its address in VOLLEY_DASHBOARD_URL. Every call needs a token (volley token create); people sign in
with theirs. docs/reference/api.md describes the API.

Ctrl-C drains: Volley records the answers to requests in flight, leaves its slices to other workers, and receives delivery
reports until then.`,
  options: [
    option('--host <address>', 'address for webhooks and monitoring', {
      default: '127.0.0.1',
    }),
    option('--port <number>', 'port for webhooks and monitoring; 0: any free port', {
      read: parsePort,
      default: servePorts.receiver,
    }),
    flag('--no-receiver', 'receive no delivery reports'),
    flag('--no-api', 'answer no API, and show no dashboard'),
    flag('--no-dashboard', 'show no dashboard'),
    flag('--uploads', 'let people with the scope run send campaigns to lists that they bring'),
    option('--api-host <address>', 'address of the API and the dashboard', { default: '127.0.0.1' }),
    option('--api-port <number>', 'port of the API and the dashboard; 0: any free port', {
      read: parsePort,
      default: servePorts.api,
    }),
    flag('--no-worker', 'send no requests and no notifications'),
    flag('--no-schedules', 'start no scheduled campaigns'),
    campaignsOption,
    option('--metrics-host <address>', 'address for monitoring only; needs --metrics-port'),
    option('--metrics-name <name...>', 'further names by which monitoring calls this machine'),
    option('--metrics-port <number>', 'port for monitoring only; 0: any free port', {
      read: parsePort,
    }),
  ],
  examples: [['volley serve', 'receive delivery reports, send, serve the API and the dashboard']],
  run: async (shell, _, { campaigns = campaignsFolder(shell), ...options }) => {
    const { receiver, api, worker, schedules } = options;
    if (!receiver && !api && !worker && !schedules) {
      const what =
        'There is nothing to do. Omit one of --no-receiver, --no-api, --no-worker and --no-schedules.';
      throw new InputError([{ where: 'serve', what }]);
    }
    requireMetricsPort(options);
    const { runServices } = await import('../serving/run-services.ts');
    await runServices(shell, { ...options, campaigns });
  },
});

function requireMetricsPort({
  metricsHost,
  metricsName,
  metricsPort,
}: {
  readonly metricsHost?: string;
  readonly metricsName?: readonly string[];
  readonly metricsPort?: number;
}): void {
  if (metricsPort !== undefined || (metricsHost === undefined && metricsName === undefined)) return;
  const where = metricsHost === undefined ? '--metrics-name' : '--metrics-host';
  throw new InputError([{ where, what: 'It needs --metrics-port.' }]);
}
