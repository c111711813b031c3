import type { Command } from 'commander';
import type { ServeOptions } from '../actions/serve.ts';
import { campaignsOption, parsePort } from '../options.ts';
import type { Shell } from '../shell.ts';

const paths = `
Besides webhooks, its port answers:
  GET /healthz   200 while the process runs
  GET /readyz    200, or 503 with the problem: the database, its migrations, or a process that drains
  GET /metrics   metrics for Prometheus
/readyz and /metrics answer only programs of this machine, and only without a proxy. With --metrics-port they move to that
port, and answer every caller that uses an IP address, this machine's host name or a --metrics-name.

The API and the dashboard have a port of their own, for this machine only; put a proxy in front of it for https:// and
other machines, and name its address in VOLLEY_DASHBOARD_URL. Every call needs a token (volley token create); people sign in
with theirs. docs/reference/api.md describes the API.

Ctrl-C drains: Volley records the answers to requests in flight, leaves its slices to other workers, and receives delivery
reports until then.`;

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Runs everything in one process until it is stopped. Receives delivery reports for accounts with a webhookToken, answers the API, shows the dashboard, starts scheduled campaigns, helps to send all runs, and sends their notifications.',
    )
    .option('--host <address>', 'address to listen on, for webhooks and monitoring', '127.0.0.1')
    .option(
      '--port <number>',
      'port to listen on, for webhooks and monitoring; 0: any free port',
      parsePort,
      8026,
    )
    .option('--no-receiver', 'receive no delivery reports')
    .option('--no-api', 'answer no API, and show no dashboard')
    .option('--no-dashboard', 'show no dashboard')
    .option('--api-host <address>', 'address of the API and the dashboard', '127.0.0.1')
    .option('--api-port <number>', 'port of the API and the dashboard; 0: any free port', parsePort, 8027)
    .option('--no-worker', 'send no requests and no notifications')
    .option('--no-schedules', 'start no scheduled campaigns')
    .addOption(campaignsOption(shell))
    .option('--metrics-host <address>', 'address of a listener for monitoring only; needs --metrics-port')
    .option(
      '--metrics-name <name...>',
      'further names of this machine that callers of the monitoring listener use',
    )
    .option('--metrics-port <number>', 'port of the monitoring listener; 0: any free port', parsePort)
    .addHelpText('after', paths)
    .action(async (options: ServeOptions) => {
      const { serveAction } = await import('../actions/serve.ts');
      await serveAction(shell, options);
    });
}
