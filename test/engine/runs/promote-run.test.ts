import { afterAll, beforeAll, expect, test } from 'vitest';
import { promoteRun } from '../../../src/engine/runs/promote-run.ts';
import { listDecisions } from '../../../src/ledger/watch/decisions.ts';
import { accountAt } from '../../support/execute.ts';
import { type NotifyScene, openNotifyScene, webhookNotify } from '../../support/notify-scene.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';
import { smsCampaignYaml } from '../../support/workspace.ts';

let scene: NotifyScene;
beforeAll(async () => {
  scene = await openNotifyScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

test('a run that is paused for another reason while a person promotes it stays paused', async () => {
  const { context, ledger } = scene.opened;
  const run = await scene.plan(webhookNotify(), `${smsCampaignYaml}canary: { recipients: 1 }\n`);
  const pauseBecause = (reason: object | string) =>
    ledger.pool.query(`UPDATE runs SET state = 'paused', state_reason = $2 WHERE run_id = $1`, [
      run,
      JSON.stringify(reason),
    ]);
  await pauseBecause({ kind: 'canary_waits' });
  const promote = (meanwhile: () => Promise<unknown>) =>
    promoteRun(
      context,
      run,
      async () => {
        await meanwhile();
        return accountAt(scene.sandbox.url);
      },
      'looks good',
    );
  expect(await problemsRejected(() => promote(() => pauseBecause('wrong text')))).toEqual([
    `run ${run}: The run is paused for another reason. \`volley resume ${run}\` continues it; then promote it.`,
  ]);
  expect(await listDecisions(ledger.pool, run)).toEqual([]);
  await pauseBecause({ kind: 'canary_waits' });
  await promote(async () => undefined);
  expect(await listDecisions(ledger.pool, run)).toMatchObject([{ kind: 'canary promoted' }]);
});
