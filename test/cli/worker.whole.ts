import { expect, test } from 'vitest';
import { openDispatchScene } from '../support/dispatch-scene.ts';
import { accountsYaml } from '../support/workspace.ts';

test.concurrent('a worker logs an account that it cannot use, with the reason, and leaves its requests to others', async () => {
  await using scene = await openDispatchScene({ requests: 20, concurrency: 2, peer: { latency: 600_000 } });
  await scene.plan();
  await scene.workspace.write('accounts.yaml', accountsYaml.replace('sandbox:', 'other:'));
  const worker = scene.start(['worker']);
  await worker.waitForText('other workers send its requests');
  worker.process.kill('SIGTERM');
  const { code, stderr } = await worker.ended;
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('sandbox');
  expect(stderr).not.toContain('token');
});

test.concurrent('a worker that is stopped during a database outage ends within 10 seconds, with a note', async () => {
  await using scene = await openDispatchScene({ requests: 1, concurrency: 1 });
  const worker = scene.start(['worker']);
  await worker.waitForText('worker started');
  await scene.ledger.dropDatabase();
  await worker.waitForText('database outage');
  worker.process.kill('SIGTERM');
  const { code, stderr } = await worker.ended;
  expect(code, stderr).toBe(1);
  expect(stderr).toContain('database outage until the end; nothing was in flight');
  expect(stderr).not.toContain('database outage over');
});
