import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { answerSuccess, textPeer } from '../gateway/test-peers.ts';
import type { TestLedger } from './ledger.ts';
import { type ProcessOptions, startVolley, volleyInProcess } from './volley.ts';
import { contactsCsv, makeWorkspace, smsCampaignYaml } from './workspace.ts';

export type SentAtRate = {
  /** Milliseconds at which requests arrived, in order. */
  readonly arrivals: readonly number[];
  readonly workers: number;
};

const accountsYaml = (perSecond: number): string => `
accounts:
  sandbox:
    interface: rest-2.02
    baseUrl: \${VOLLEY_SANDBOX_URL}
    authToken: \${VOLLEY_SANDBOX_TOKEN}
    limits: { requestsPerSecond: ${perSecond} }
`;

/**
 * Sends a run through a limited account to a service that counts. Uses `volley run`, and `volley worker` for
 * the other processes.
 *
 * @param whileSending runs in parallel, in the same surroundings
 */
export async function sendAtRate(
  opened: TestLedger,
  {
    processes,
    perSecond,
    requests,
  }: { readonly processes: number; readonly perSecond: number; readonly requests: number },
  whileSending: (surroundings: ProcessOptions) => Promise<void> = async () => undefined,
): Promise<SentAtRate> {
  const arrivals: number[] = [];
  await using peer = await textPeer((text, response) => {
    arrivals.push(performance.now());
    answerSuccess(/"MessageID":"([^"]+)"/.exec(text)?.[1] ?? '', response);
  });
  await using workspace = await makeWorkspace({
    'accounts.yaml': accountsYaml(perSecond),
    'campaign.yaml': smsCampaignYaml.replace('concurrency: 4', 'concurrency: 16'),
    'contacts.csv': contactsCsv(requests),
  });
  const surroundings = {
    cwd: workspace.folder,
    env: {
      DATABASE_URL: opened.url,
      VOLLEY_ACCOUNTS: 'accounts.yaml',
      VOLLEY_SANDBOX_URL: peer.url,
      VOLLEY_SANDBOX_TOKEN: 'any',
    },
  };
  const workers = Array.from({ length: processes - 1 }, () => startVolley(['worker'], surroundings));
  await Promise.all(workers.map(({ waitForText }) => waitForText('worker started')));
  // In this process, like the service, so that the first process has nothing to wait for.
  const run = volleyInProcess(['run', 'campaign.yaml', '--json'], surroundings);
  const hasEnded = new AbortController();
  const workersSeen = countWorkers(opened, hasEnded.signal);
  const [ended] = await Promise.all([run, whileSending(surroundings)]);
  hasEnded.abort();
  for (const { process } of workers) process.kill('SIGTERM');
  await Promise.all(workers.map(({ ended: end }) => end));
  expect(ended).toMatchObject({ code: 0 });
  expect(JSON.parse(ended.stdout)).toMatchObject({ requests: { accepted: requests } });
  return { arrivals, workers: await workersSeen };
}

/** Counts workers that hold slices, until the signal. */
async function countWorkers({ ledger }: TestLedger, signal: AbortSignal): Promise<number> {
  const seen = new Set<string>();
  while (!signal.aborted) {
    const { rows } = await ledger.pool.query<{ worker: string }>(
      'SELECT DISTINCT worker FROM slices WHERE worker IS NOT NULL',
    );
    for (const { worker } of rows) seen.add(worker);
    await sleep(100, undefined, { signal: signal }).catch(() => undefined);
  }
  return seen.size;
}

/** Counts arrivals in an interval, in milliseconds after the first. */
export function countBetween(arrivals: readonly number[], from: number, to: number): number {
  const [first = 0] = arrivals;
  return arrivals.filter((at) => at >= first + from && at < first + to).length;
}
