import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openLedger } from '../../../src/ledger/connection.ts';
import { readRunCounts } from '../../../src/ledger/counts/run-counts.ts';
import { tendPartitions } from '../../../src/ledger/delivery-reports/partitions.ts';
import { runStatement } from '../../support/statement.ts';
import { startVolley, volley } from '../../support/volley.ts';
import type { Service } from '../dispatch/start-service.ts';
import { type BenchWorkspace, environmentFor, planRun, startResume } from '../dispatch/volley.ts';
import { type Workload, writeCampaign } from '../dispatch/workload.ts';
import { send, withServe } from '../webhooks.ts';
import { listRecipients } from './list-recipients.ts';
import { readSize, type Size, waitUntilQuiet } from './read-size.ts';

export type Stage = { readonly name: string; readonly size: Size };

type StorageBench = {
  readonly workload: Workload;
  readonly workspace: BenchWorkspace;
  readonly service: Service;
  readonly dataFolder: string;
};

/** Takes a run from its plan to the deletion of its records, and reads what it takes after each stage. */
export async function measureStages({
  workload,
  workspace,
  service,
  dataFolder,
}: StorageBench): Promise<readonly Stage[]> {
  const { databaseUrl, folder } = workspace;
  const stages: Stage[] = [];
  const note = async (name: string): Promise<void> => {
    stages.push({ name, size: await readSize(databaseUrl, dataFolder) });
    console.error(`${new Date().toISOString()} ${name}`);
  };
  const campaign = await writeCampaign(folder, workload, service.url);
  await requireDone(volley(['db', 'migrate'], { env: environmentFor(workspace) }));
  // Maps of free space and visibility are those of an empty ledger too, whatever its age.
  await runStatement(databaseUrl, 'VACUUM');
  await note('empty');
  const run = await planRun(campaign, workspace);
  await note('planned');
  await requireDone(startResume(run, workspace).ended);
  await note('sent');
  const file = `${folder}/reports.jsonl`;
  await listRecipients(databaseUrl, { run, chunk: workload.recipients, file });
  await withServe(workspace, async (url) => {
    await send({ file }, url);
    await waitUntilApplied(databaseUrl, run);
    await note('reported');
    await waitUntilQuiet(databaseUrl);
    await note('folded');
  });
  await beginNextWeek(databaseUrl);
  const reports = ['--delivery-reports-older-than', '90d'];
  await later(workspace, 120, ['purge', '--older-than', '1000d', ...reports, '--yes']);
  await waitUntilQuiet(databaseUrl);
  await note('reports dropped');
  await later(workspace, 400, ['purge', '--older-than', '1d', '--yes']);
  await waitUntilQuiet(databaseUrl);
  await note('purged');
  const month = new Date().toISOString().slice(0, 7);
  await later(workspace, 800, ['billing', 'close', month, '--time-zone', 'UTC']);
  await later(workspace, 800, ['purge', '--older-than', '1d', '--records-older-than', '366d', '--yes']);
  await waitUntilQuiet(databaseUrl);
  await note('records deleted');
  return stages;
}

/** Retention drops the raw reports of whole weeks, as soon as the next week has begun. */
async function beginNextWeek(connectionString: string): Promise<void> {
  const ledger = await openLedger({ connectionString }, 'bench');
  try {
    await tendPartitions(ledger.pool, new Date(Date.now() + 8 * 86_400_000));
  } finally {
    await ledger.close();
  }
}

/** Every recipient of the run has its delivery report. */
export async function waitUntilApplied(connectionString: string, run: string): Promise<void> {
  const ledger = await openLedger({ connectionString }, 'bench');
  try {
    for (;;) {
      const recipients = (await readRunCounts(ledger.pool, [run])).get(run)?.recipients;
      if (recipients && recipients.delivered + recipients.undelivered === recipients.total) return;
      await sleep(200);
    }
  } finally {
    await ledger.close();
  }
}

const laterScript = fileURLToPath(new URL('../later.ts', import.meta.url));

/** Runs a command as if so many days had passed. */
export function startLater(
  { folder, databaseUrl }: BenchWorkspace,
  days: number,
  words: readonly string[],
  nodeFlags: readonly string[] = [],
) {
  const env = { ...environmentFor({ folder, databaseUrl }), VOLLEY_HASH_KEY: 'bench-'.repeat(11) };
  return startVolley([String(days), ...words], { cwd: folder, env, launcher: laterScript, nodeFlags });
}

async function later(workspace: BenchWorkspace, days: number, words: readonly string[]): Promise<void> {
  await requireDone(startLater(workspace, days, words).ended);
}

async function requireDone(
  ended: Promise<{ readonly code: number | null; readonly stderr: string }>,
): Promise<void> {
  const { code, stderr } = await ended;
  if (code !== 0) throw new Error(`volley ended with ${code}: ${stderr}`);
}
