import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InputError } from '../../../src/domain/problems.ts';
import { startByKey } from '../../../src/engine/access/start-by-key.ts';
import { loadAccount } from '../../../src/engine/load-definition.ts';
import { type ApiScene, openApiScene } from '../../support/api-scene.ts';
import { createRequestRows } from '../../support/request-rows.ts';
import { accountsYaml, smsCampaignYaml } from '../../support/workspace.ts';

let scene: ApiScene;
let run: string;
/** Tokens with the scope admin, for one account each. */
let north: string;
let sandbox: string;
beforeAll(async () => {
  scene = await openApiScene();
  const ofNorth = accountsYaml.slice(accountsYaml.indexOf('  sandbox:')).replace('sandbox:', 'north:');
  await scene.workspace.write('campaigns/accounts.yaml', accountsYaml + ofNorth);
  await scene.workspace.write(
    'campaigns/north.yaml',
    smsCampaignYaml.replace('account: sandbox', 'account: north'),
  );
  run = await scene.start('payroll.yaml', 'first');
  north = await scene.tokenOf('north', 'admin', 'bob', { accounts: ['north'] });
  sandbox = await scene.tokenOf('sandbox', 'admin', 'bob', { accounts: ['sandbox'] });
});
afterAll(() => scene[Symbol.asyncDispose]());

const get = (path: string, token: string) => scene.call('GET', path, { token });
const start = (token: string, campaign: string, key: string) =>
  scene.call('POST', '/runs', { token, body: { campaign }, headers: { 'idempotency-key': key } });

describe('a token for some accounts', () => {
  test.each([
    ['GET', ''],
    ['GET', '/report'],
    ['GET', '/contacts'],
    ['GET', '/failures'],
    ['POST', '/pause'],
    ['POST', '/resume'],
    ['POST', '/cancel'],
    ['POST', '/approve'],
    ['POST', '/resolve'],
  ])('%s /runs/{run}%s of another account is answered like an unknown run', async (method, path) => {
    const body = path === '/resolve' ? { resolution: 'abandon', reason: 'a test' } : {};
    const asked = { token: north, ...(method === 'POST' && { body }) };
    const foreign = await scene.call(method, `/runs/${run}${path}`, asked);
    const none = await scene.call(method, `/runs/none${path}`, asked);
    expect(foreign.status).toBe(404);
    expect(foreign.text.replaceAll(run, 'none')).toBe(none.text);
  });

  test('a token for some accounts lists the runs of these accounts only', async () => {
    expect((await get('/runs', sandbox)).json).toMatchObject({ runs: [{ run }] });
    expect((await get('/runs', north)).json).toEqual({ runs: [], next: null });
    expect((await get('/runs?account=sandbox', north)).json).toEqual({ runs: [], next: null });
    expect((await get(`/runs?before=${run}`, north)).status).toBe(422);
  });

  test('a token for some accounts gets billing and missing delivery reports of these accounts only', async () => {
    await createRequestRows(scene.opened.ledger.pool, run);
    await scene.opened.ledger.pool.query(
      `UPDATE requests SET state = 'accepted', updated_at = '2026-01-01' WHERE run_id = $1`,
      [run],
    );
    const lines = async (path: string, token: string) => (await get(path, token)).json?.['rows'];
    expect(await lines('/reports/missing?format=json', sandbox)).toHaveLength(4);
    expect(await lines('/reports/missing?format=json', north)).toEqual([]);
    expect(await lines('/reports/billing?by=account&format=json', north)).toEqual([]);
    for (const filter of ['account=sandbox', 'campaign=test', `run=${run}`])
      expect((await get(`/reports/billing?${filter}`, north)).status, filter).toBe(422);
    expect((await get('/reports/billing?account=sandbox', sandbox)).status).toBe(200);
    // Suggestions come from its accounts only, too.
    const unknown = '/reports/billing?chargeCode=none';
    const ofNorth = await get(unknown, north);
    expect([ofNorth.status, ofNorth.text]).toEqual([
      422,
      expect.stringContaining('The ledger has no ChargeCode.'),
    ]);
    expect((await get(unknown, sandbox)).text).toMatch(/There (is|are) C0\b/);
  });

  test('a token for some accounts starts campaigns of these accounts, and learns nothing of others', async () => {
    expect(await start(north, 'north.yaml', 'one')).toMatchObject({ status: 202 });
    const foreign = await start(north, 'payroll.yaml', 'two');
    const none = await start(north, 'none.yaml', 'three');
    expect([foreign.status, none.status]).toEqual([422, 422]);
    expect(foreign.json?.['problems']).toEqual(none.json?.['problems']);
    expect(foreign.text).not.toMatch(/sandbox|watched|dear/);
  });

  test('a token for some accounts starts no campaign whose account changes while its run is planned', async () => {
    const settings = {
      environment: { VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9', VOLLEY_SANDBOX_TOKEN: 'any' },
      workingFolder: scene.workspace.folder,
    };
    const accountNamed = (name: string) => loadAccount(name, settings);
    const campaignSource = { folder: 'campaigns', settings, accountNamed };
    // The token allowed the account of the file at first.
    const asked = { campaign: 'payroll.yaml', accounts: ['sandbox'], token: 'north', key: 'four' };
    const runs = async () => (await get('/runs', scene.tokens.admin)).json?.['runs'];
    const before = await runs();
    await expect(startByKey(scene.opened.context, campaignSource, asked, () => undefined)).rejects.toThrow(
      InputError,
    );
    expect(await runs()).toEqual(before);
  });

  test('a token for some accounts cannot list campaigns, schedules, the audit trail or tokens', async () => {
    for (const path of ['/campaigns', '/schedules', '/audit', '/tokens']) {
      expect((await get(path, sandbox)).status, path).toBe(403);
      expect((await get(path, scene.tokens.admin)).status, path).toBe(200);
    }
  });
});
