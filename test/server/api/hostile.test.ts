import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiScene, openApiScene } from '../../support/api-scene.ts';

let scene: ApiScene;
beforeAll(async () => {
  scene = await openApiScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

describe('a caller without a token', () => {
  test('a caller without a token learns neither which paths exist nor that a body is too large', async () => {
    const large = { body: { reason: 'x'.repeat(100_000) } };
    for (const [method, path, asked] of [
      ['GET', '/runs', {}],
      ['GET', '/none', {}],
      ['GET', '/api/v1/openapi.json', {}],
      ['OPTIONS', '/runs', {}],
      ['DELETE', '/runs/none', {}],
      ['POST', '/runs/none/cancel', large],
    ] as const)
      expect((await scene.call(method, path, { token: '', ...asked })).status).toBe(401);
    const elsewhere = await fetch(`${scene.url}/healthz`);
    expect(elsewhere.status).toBe(404);
    expect(await elsewhere.json()).toMatchObject({ detail: 'There is no such path; the API is at /api/v1.' });
  });

  test('an address with sixty wrong tokens in a minute is answered 429, and its valid tokens still work', async () => {
    await using other = await openApiScene(5);
    const wrong = () => other.call('GET', '/runs', { token: 'volley_wrong' });
    const statuses: number[] = [];
    for (let call = 0; call < 7; call++) statuses.push((await wrong()).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
    expect(Number((await wrong()).headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await other.call('GET', '/runs')).status).toBe(200);
  });

  test.each([
    'volley_',
    'Basic dm9sbGV5OnZvbGxleQ==',
    'Bearer',
    `Bearer ${'v'.repeat(201)}`,
    "Bearer ' OR 1=1 --",
  ])('a caller with Authorization %j is answered 401', async (authorization) => {
    expect((await scene.call('GET', '/runs', { token: '', headers: { authorization } })).status).toBe(401);
  });
});

describe('an invalid call', () => {
  test.each([
    ['a body that is no JSON', '{"reason":', 400, 'is not JSON'],
    ['a prototype in a body', '{"__proto__":{"a":1}}', 400, 'is not JSON'],
    ['a key that there is not', '{"why":"lunch"}', 400, 'Unknown key "why"; remove it.'],
    ['a reason of nothing', '{"reason":" "}', 400, 'Expected at least one character.'],
    ['a reason with a NUL', '{"reason":"a\\u0000b"}', 400, 'control characters'],
    ['a reason with half a character', '{"reason":"\\ud800"}', 400, 'Unicode'],
    ['a body that is too large', `{"reason":"${'x'.repeat(70_000)}"}`, 413, '64 KiB'],
  ])('%s is refused with its mistake', async (_, body, status, words) => {
    const run = await scene.start('payroll.yaml', 'steady');
    const answer = await scene.call('POST', `/runs/${run}/pause`, { body });
    expect([answer.status, answer.json?.['detail']]).toEqual([status, expect.stringContaining(words)]);
    expect((await scene.call('GET', `/runs/${run}`)).json?.['state']).toBe('running');
  });

  test('an unknown word is answered with the nearest known one', async () => {
    const { status, json } = await scene.call('GET', '/runs?state=runing');
    expect([status, json?.['detail']]).toEqual([
      400,
      'Expected planned, running, completed, paused or cancelled. Did you mean "running"?',
    ]);
  });

  test.each([
    ['/runs?limit=0', 400],
    ['/runs?limit=1e9', 400],
    ['/runs?colour=red', 400],
    ['/runs?state=gone', 400],
    ['/runs?state=running&state=paused', 400],
    ['/runs/a%2F..%2Fb', 400],
    ['/runs/%', 400],
    ['/reports/billing?from=2026-02-30', 400],
    ['/reports/billing?from=2026-01-01T00:07', 400],
    ['/reports/billing?from=2026-02&to=2026-01', 422],
    ['/reports/billing?by=colour', 422],
    ['/reports/billing?campaign=nobody', 422],
    ['/reports/billing?run=none', 422],
    ['/reports/billing?timeZone=Mars', 400],
    ['/reports/billing?from=0000-01', 400],
    ['/reports/billing?subAccount=%00', 400],
    ['/reports/billing?campaign=%00', 400],
    ['/runs?campaign=%00', 400],
    ['/audit?who=%00', 400],
    ['/campaigns?folder=..', 400],
    ['/runs/none?format=csv', 400],
    ['/audit?before=x', 400],
    ['/audit?since=2026-02-30', 400],
    ['/runs?from=soon', 400],
    [`/runs?campaign=${'x'.repeat(300)}`, 400],
    ['/none', 404],
  ])('%s is answered %i with the position of the mistake', async (path, status) => {
    const { status: given, json, headers } = await scene.call('GET', path);
    expect([given, headers.get('content-type')]).toEqual([status, 'application/problem+json; charset=utf-8']);
    expect(json).toMatchObject({ type: 'about:blank', status, detail: expect.stringMatching(/\w/) });
  });

  test.each(['approve', 'resume'])('%s refuses an unknown property', async (what) => {
    const run = await scene.start('payroll.yaml', 'steady');
    const { status, json } = await scene.call('POST', `/runs/${run}/${what}`, { body: { by: 'bob' } });
    expect([status, json?.['detail']]).toEqual([400, expect.stringContaining('"by"')]);
  });

  test('a request named with a NUL character is not found', async () => {
    const run = await scene.start('payroll.yaml', 'steady');
    const body = { resolution: 'accepted', reason: 'asked', requests: ['\u0000'] };
    expect((await scene.call('POST', `/runs/${run}/resolve`, { body })).status).toBe(400);
  });

  test('a decision about named requests and about an answer is refused', async () => {
    const run = await scene.start('payroll.yaml', 'steady');
    const body = { resolution: 'accepted', reason: 'asked', requests: ['1'], answer: 'HTTP 404' };
    const { status, json } = await scene.call('POST', `/runs/${run}/resolve`, { body });
    expect([status, json?.['detail']]).toEqual([
      400,
      '"requests" and "answer" exclude each other. Use one of them.',
    ]);
  });

  test('a body of another content type is refused', async () => {
    const headers = { 'content-type': 'text/xml' };
    const { status, json } = await scene.call('POST', '/runs', { body: '<a/>', headers });
    expect([status, json?.['detail']]).toEqual([415, 'Expected a body of Content-Type application/json.']);
  });

  test('a head that is too large is answered 431', async () => {
    const headers = { 'x-large': 'x'.repeat(20_000) };
    expect((await scene.call('GET', '/runs', { headers })).status).toBe(431);
  });
});

describe('an internal error', () => {
  test('an internal error is answered without its cause, and the log has it under the id of the call', async () => {
    const { pool } = scene.opened.ledger;
    await pool.query('ALTER TABLE schedules RENAME TO hidden');
    const { status, json, text } = await scene.call('GET', '/schedules');
    await pool.query('ALTER TABLE hidden RENAME TO schedules');
    expect([status, json?.['kind']]).toEqual([500, 'internal']);
    expect(text).not.toMatch(/schedules|relation|postgres|\.ts/);
    expect(scene.logged()).toContain(`"call":"${json?.['call']}"`);
    expect(scene.logged()).toContain('relation \\"schedules\\" does not exist');
  });

  test('a call during a database outage is answered 503 with Retry-After', async () => {
    await using other = await openApiScene();
    await other.opened.dropDatabase();
    const { status, json, headers } = await other.call('GET', '/runs');
    expect([status, json?.['kind'], headers.get('retry-after')]).toEqual([503, 'unavailable', '5']);
  });
});

test('calls are counted by operation and status, not by anything that a caller chooses', async () => {
  const before = scene.answered.length;
  for (const path of ['/runs?limit=1', '/runs/none', '/none']) await scene.call('GET', path);
  await scene.call('GET', '/runs', { token: '' });
  const counted = ['listRuns 200', 'getRun 404', 'none 404', 'listRuns 401'];
  await expect.poll(() => scene.answered.slice(before)).toEqual(counted);
});

test('no token is written to the log or the ledger', async () => {
  const { rows } = await scene.opened.ledger.pool.query('SELECT * FROM audit');
  const kept = scene.logged() + JSON.stringify(rows);
  for (const token of Object.values(scene.tokens)) expect(kept).not.toContain(token.slice(10));
});

test('the last use of a token is recorded once a minute', async () => {
  const token = await scene.tokenOf('noted', 'read', 'ann');
  const used = async () =>
    (await scene.opened.ledger.pool.query(`SELECT last_used_at FROM tokens WHERE name = 'noted'`)).rows[0];
  expect(await used()).toEqual({ last_used_at: null });
  await scene.call('GET', '/runs', { token });
  const first = await used();
  expect(first).toEqual({ last_used_at: expect.any(Date) });
  await scene.call('GET', '/runs', { token });
  expect(await used()).toEqual(first);
});
