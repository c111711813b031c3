import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  type DashboardScene,
  hiddenFields,
  openDashboardScene,
  whenPlanned,
} from '../../support/dashboard-scene.ts';
import { secret } from '../../support/purges.ts';
import { startOverApi } from '../../support/start-over-api.ts';

let scene: DashboardScene;
let run: string;
beforeAll(async () => {
  scene = await openDashboardScene({
    sandbox: { failRate: 1 },
    environment: { VOLLEY_HASH_KEY: secret },
  });
  run = await startOverApi(scene.url, await scene.tokenOf('run'), 'test.yaml');
  const { pool } = scene.opened.ledger;
  const stateOf = async () => (await pool.query('SELECT state FROM runs WHERE run_id = $1', [run])).rows[0];
  await vi.waitFor(async () => expect(await stateOf()).toEqual({ state: 'completed' }), { timeout: 30_000 });
});
afterAll(() => scene[Symbol.asyncDispose]());

async function purge(): Promise<void> {
  await scene.opened.ledger.pool.query(
    "UPDATE runs SET created_at = created_at - interval '400 days', finished_at = finished_at - interval '400 days'",
  );
  const { code } = await scene.command(['purge', '--older-than', '100d', '--also-in-doubt', '--yes']);
  expect(code).toBe(0);
}

describe('the pages of a run that is purged while they are open', () => {
  test('say that its messages are erased, and offer nothing that needs them', async () => {
    const person = await scene.visitor('admin');
    const [rerun, resend] = [
      `/runs/${run}/rerun?only=unknown`,
      `/runs/${run}/doubts/resolve?decision=resend&which=all`,
    ];
    const before = await person.get(`/runs/${run}`);
    expect(before.text).toContain('Send again to unknown');
    expect(before.text).toContain(`/runs/${run}/plan`);
    const forms = [
      [rerun, hiddenFields((await whenPlanned(person, rerun)).text)],
      [resend, hiddenFields((await person.get(resend)).text)],
    ] as const;
    await purge();

    for (const [path, fields] of forms) {
      const sent = await person.post(path, { ...fields, reason: 'again' });
      expect([path, sent.status, /was purged at/.test(sent.text)]).toEqual([path, 422, true]);
      expect(sent.text).not.toContain('volley report');
      const asked = await whenPlanned(person, path);
      expect([path, asked.status, /was purged at/.test(asked.text)]).toEqual([path, 200, true]);
      expect(asked.text).not.toContain('volley report');
      expect(hiddenFields(asked.text)).toEqual({});
    }
    const after = await person.get(`/runs/${run}`);
    expect(after.text).toContain('Its contacts and messages are erased');
    expect(after.text).toContain('Resolve doubts');
    expect(after.text).not.toContain('Send again to unknown');
    expect(after.text).not.toContain(`/runs/${run}/plan`);
    const plan = await person.get(`/runs/${run}/plan?request=2`);
    expect([plan.status, /was purged at/.test(plan.text)]).toEqual([422, true]);
  });

  test('still count its requests as accepted', async () => {
    const person = await scene.visitor('admin');
    const path = `/runs/${run}/doubts/resolve?decision=accepted&which=all`;
    expect((await person.send(path, { reason: 'seen in the list of the service' })).status).toBe(303);
  });
});
