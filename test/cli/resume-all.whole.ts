import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunReason } from '../../src/domain/reasons.ts';
import { pauseRun } from '../../src/ledger/runs/stop.ts';
import { openWorkerSession } from '../../src/ledger/slices/worker-session.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { aContact, aRun, planContacts } from '../support/ledger.ts';
import { testLedger } from '../support/test-ledger.ts';
import { type Ended, volleyInProcess } from '../support/volley.ts';
import { accountEnvironment, accountsYaml, makeWorkspace, type Workspace } from '../support/workspace.ts';

const opened = testLedger();
let workspace: Workspace;
let sandbox: Sandbox;
beforeAll(async () => {
  workspace = await makeWorkspace({ 'accounts.yaml': accountsYaml });
  sandbox = await startSandbox({});
});
afterAll(async () => {
  await sandbox.close();
  await workspace[Symbol.asyncDispose]();
});

const volley = (...words: string[]): Promise<Ended> =>
  volleyInProcess(words, {
    cwd: workspace.folder,
    env: { ...accountEnvironment(opened, sandbox) },
  });

const resume = (...words: string[]): Promise<Ended> => volley('resume', ...words);

async function planRun(
  state: 'planned' | 'running' | 'paused',
  account = 'sandbox',
  reason: RunReason = { kind: 'interrupted' },
) {
  const run = await planContacts(opened.ledger, aRun({ account }), [aContact(1), aContact(2)]);
  if (state === 'running')
    await opened.ledger.pool.query(`UPDATE runs SET state = 'running' WHERE run_id = $1`, [run]);
  if (state === 'paused') await pauseRun(await opened.ledger.queue(), opened.ledger.pool, run, { reason });
  return run;
}

test('a run whose process was killed is listed as one that no process sends, until a worker runs', async () => {
  const run = await planRun('running');
  const status = await volley('status', run);
  expect(status.stdout).toMatch(/^ {2}waits {7}No worker sends it\. .* `volley resume \S+` does it\.$/m);
  expect((await volley('runs')).stdout).toContain('running (no worker sends it)');
  const worker = await openWorkerSession(opened.ledger.pool, 'any', () => {});
  expect(JSON.parse((await volley('status', run, '--json')).stdout)).toMatchObject({ unattended: false });
  expect((await volley('runs')).stdout).not.toContain('no worker sends it');
  await worker.close();
  expect((await resume(run)).code).toBe(0);
  expect((await volley('status', run)).stdout).not.toContain('No worker sends it');
});

test('volley resume --all continues every interrupted run, and no other', async () => {
  const interrupted = [await planRun('planned'), await planRun('running'), await planRun('paused')];
  const paused = await planRun('paused', 'sandbox', 'the wrong text');
  const elsewhere = await planRun('running', 'elsewhere');
  const { code, stdout, stderr } = await resume('--all', '--json');
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ run, state }) => [run, state])).toEqual(interrupted.map((run) => [run, 'completed']));
  const { rows } = await opened.ledger.pool.query(
    'SELECT state FROM runs WHERE run_id = ANY ($1) ORDER BY created_at, run_id',
    [[paused, elsewhere]],
  );
  expect(rows).toEqual([{ state: 'paused' }, { state: 'running' }]);
  expect(code).toBe(2);
  expect(stderr).toContain(`Run ${elsewhere} was not resumed`);
  expect(stderr).toContain('"elsewhere"');
});

test('volley resume needs a run or --all, and not both', async () => {
  for (const words of [[], ['some-run', '--all']]) {
    const { code, stderr } = await resume(...words);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^Expected either <run>.*\nUsage: volley resume /),
    ]);
  }
});
