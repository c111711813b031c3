import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { InputError } from '../../../src/domain/problems.ts';
import { createLookUpJobs, type LookUpJobs } from '../../../src/engine/runs/ask-about-doubts.ts';
import { summariseRun } from '../../../src/ledger/runs/describe-run.ts';
import { textPeer } from '../../gateway/test-peers.ts';
import { planRunInDoubt } from '../../support/run-in-doubt.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const opened = testLedger();

const accounts = (options: string): string => `
accounts:
  sandbox: { interface: rest-2.02, baseUrl: "\${SERVICE_URL}", authToken: "\${TOKEN}"${options} }
`;

async function openJobs(options: string) {
  await using opening = new AsyncDisposableStack();
  const workspace = opening.use(await makeWorkspace({ 'accounts.yaml': accounts(options) }));
  const answered = Promise.withResolvers<void>();
  const peer = opening.use(
    await textPeer(async (_body, response, { url = '' }) => {
      await answered.promise;
      const messageId = /status\/(\w+)/.exec(url)?.[1] ?? '';
      response.end(JSON.stringify({ MessageID: messageId, Result: 'Success' }));
    }),
  );
  const environment = { VOLLEY_ACCOUNTS: 'accounts.yaml', SERVICE_URL: peer.url, TOKEN: 'any' };
  const jobs = createLookUpJobs({ environment, workingFolder: workspace.folder });
  opening.defer(() => jobs.close());
  const whole = opening.move();
  return { jobs, answer: answered.resolve, [Symbol.asyncDispose]: () => whole.disposeAsync() };
}

async function endOf(jobs: LookUpJobs, run: string) {
  while (jobs.of(run)?.state === 'asking') await sleep(10);
  return jobs.of(run);
}

const whatOf = (error: unknown): string =>
  error instanceof InputError ? (error.problems[0]?.what ?? '') : String(error);

test('the service is asked in the background, once at a time for each run', async () => {
  await using scene = await openJobs(', statusLookUp: on');
  const run = await planRunInDoubt(opened.ledger);
  const all = { run, named: undefined };
  expect(scene.jobs.of(run)).toBeUndefined();
  await scene.jobs.start(opened.context, all);
  expect(scene.jobs.of(run)).toMatchObject({ state: 'asking', found: 0 });
  expect(whatOf(await scene.jobs.start(opened.context, all).catch((error) => error))).toMatch(/already/);
  scene.answer();
  expect(await endOf(scene.jobs, run)).toMatchObject({
    state: 'finished',
    found: 1,
    notFound: 0,
    unclear: 0,
  });
  expect((await summariseRun(opened.ledger.pool, run))?.requests).toMatchObject({ accepted: 1, in_doubt: 0 });
});

test('an account without a status look-up, and a request that is not in doubt, are refused before the first question', async () => {
  await using without = await openJobs('');
  await using scene = await openJobs(', statusLookUp: on');
  const run = await planRunInDoubt(opened.ledger);
  const refusal = (jobs: LookUpJobs, named?: string[]) =>
    jobs.start(opened.context, { run, named }).then(() => 'started', whatOf);
  expect(await refusal(without.jobs)).toMatch(/status look-up/);
  expect(await refusal(scene.jobs, ['7'])).toMatch(/no such request/);
  expect(scene.jobs.of(run)).toBeUndefined();
});
