import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { revokeToken } from '../../../src/engine/access/tokens.ts';
import { listAudit } from '../../../src/ledger/audit/audit.ts';
import {
  type DashboardScene,
  hiddenFields,
  openDashboardScene,
  signIn,
} from '../../support/dashboard-scene.ts';

let scene: DashboardScene;
beforeAll(async () => {
  scene = await openDashboardScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

describe('signing in', () => {
  test('a caller without a session is sent to sign in, and then to the page that was asked for', async () => {
    const asked = await fetch(`${scene.url}/zone?to=%2Faudit`, { redirect: 'manual' });
    expect(asked.status).toBe(303);
    expect(asked.headers.get('location')).toBe('/sign-in?to=%2Fzone%3Fto%3D%252Faudit');
    const page = await scene.browse('/zone');
    expect(new URL(page.url()).pathname).toBe('/zone');
  });

  test('a wrong token is refused, and is not shown again', async () => {
    const body = new URLSearchParams({ token: 'volley_wrong' });
    const answer = await fetch(`${scene.url}/sign-in`, {
      method: 'POST',
      body,
      headers: { origin: scene.url },
    });
    const text = await answer.text();
    expect(answer.status).toBe(422);
    expect(text).toContain('There is no such token');
    expect(text).not.toContain('volley_wrong');
  });

  test('sign-in goes on to paths of this server only', async () => {
    const token = await scene.tokenOf('read');
    for (const to of ['//evil.example', 'https://evil.example', '/\\evil.example', '/\t/evil.example']) {
      const body = new URLSearchParams({ token, to });
      const init = { method: 'POST', body, headers: { origin: scene.url }, redirect: 'manual' } as const;
      expect((await fetch(`${scene.url}/sign-in`, init)).headers.get('location')).toBe('/');
    }
  });

  test('the session cookie is out of reach of scripts and other sites, and its id is stored as a digest only', async () => {
    const body = new URLSearchParams({ token: await scene.tokenOf('read') });
    const init = { method: 'POST', body, headers: { origin: scene.url }, redirect: 'manual' } as const;
    const [cookie = ''] = (await fetch(`${scene.url}/sign-in`, init)).headers.getSetCookie();
    expect(cookie).toMatch(
      /^volley_session_\d+=[0-9a-f]{64}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    const { rows } = await scene.opened.ledger.pool.query('SELECT encode(sha256, $1) AS kept FROM sessions', [
      'hex',
    ]);
    expect(JSON.stringify(rows)).not.toContain(/=([0-9a-f]{64})/.exec(cookie)?.[1]);
  });

  test('a forged session is sent to sign in', async () => {
    const visitor = await scene.visitor('admin');
    const forged = visitor.cookies().replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const answer = await fetch(`${scene.url}/`, { headers: { cookie: forged }, redirect: 'manual' });
    expect(answer.headers.get('location')).toBe('/sign-in');
  });

  test('a session ends when its token is revoked', async () => {
    const token = await scene.tokenOf('admin', { owner: 'bea' });
    const visitor = await signIn(scene.url, token);
    expect((await visitor.get('/')).status).toBe(200);
    const { rows } = await scene.opened.ledger.pool.query("SELECT name FROM tokens WHERE owner = 'bea'");
    await revokeToken(scene.opened.context, rows[0].name);
    expect((await visitor.get('/')).status).toBe(303);
  });

  test('a session ends after two idle hours, and twelve hours after signing in', async () => {
    for (const change of [
      `used_at = used_at - interval '121 minutes'`,
      `created_at = created_at - interval '721 minutes'`,
    ]) {
      const visitor = await scene.visitor('admin');
      expect((await visitor.get('/')).status).toBe(200);
      await scene.opened.ledger.pool.query(`UPDATE sessions SET ${change}`);
      expect((await visitor.get('/')).status).toBe(303);
    }
  });

  test('signing in again ends the former session of this browser, and no other', async () => {
    const [visitor, elsewhere] = [await scene.visitor('admin'), await scene.visitor('admin')];
    const former = visitor.cookies();
    expect((await visitor.post('/sign-in', { token: await scene.tokenOf('read') })).status).toBe(303);
    expect(visitor.cookies()).not.toBe(former);
    const answer = await fetch(`${scene.url}/`, { headers: { cookie: former }, redirect: 'manual' });
    expect(answer.status).toBe(303);
    expect((await visitor.get('/')).status).toBe(200);
    expect((await elsewhere.get('/')).status).toBe(200);
  });

  test('signing out ends the session in the ledger too', async () => {
    const visitor = await scene.visitor('admin');
    const stolen = visitor.cookies();
    const page = (await visitor.get('/')).text;
    const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
    expect((await visitor.post('/sign-out', { csrf })).status).toBe(303);
    const answer = await fetch(`${scene.url}/`, { headers: { cookie: stolen }, redirect: 'manual' });
    expect(answer.status).toBe(303);
  });
});

test('a form that is sent after the session has ended does nothing, says so, and stands there again after signing in', async () => {
  const visitor = await scene.visitor('admin');
  const path = '/suppressions/add';
  const fields = {
    ...hiddenFields((await visitor.get(path)).text),
    address: '+61491570006',
    reason: 'asked',
  };
  await scene.opened.ledger.pool.query('DELETE FROM sessions');
  const sent = await visitor.post(`${path}?address=1`, { ...fields, 'channel-sms': 'on' });
  expect([sent.status, sent.headers.get('location')]).toEqual([
    303,
    '/sign-in?to=%2Fsuppressions%2Fadd%3Faddress%3D1',
  ]);
  expect((await visitor.get(sent.headers.get('location') ?? '')).text).toContain(
    'Your session has ended, and nothing was done. Sign in, then send the form again.',
  );
  expect((await visitor.get('/sign-in')).text).not.toContain('nothing was done');
  const { rows } = await scene.opened.ledger.pool.query('SELECT FROM suppressions');
  expect(rows).toEqual([]);
});

test('the reason of such a form is still there after signing in, once, and at its own path only', async () => {
  const visitor = await scene.visitor('admin');
  const path = '/suppressions/add';
  const reason = 'Ann asked for it: „nie wieder“ 😀';
  const form = { ...hiddenFields((await visitor.get(path)).text), reason };
  await scene.opened.ledger.pool.query('DELETE FROM sessions');
  const sent = await visitor.post(path, form);
  const [kept] = sent.headers.getSetCookie().filter((each) => each.startsWith('volley_reason='));
  expect(kept).toMatch(/; Max-Age=600; Path=\/suppressions\/add; HttpOnly; SameSite=Strict$/);
  expect((await visitor.post('/sign-in', { token: await scene.tokenOf('admin'), to: path })).status).toBe(
    303,
  );
  expect((await visitor.get(path)).text).toContain(`value="${reason}"`);
  expect((await visitor.get(path)).text).not.toContain('nie wieder');
});

describe('the sessions of a person', () => {
  const owner = 'cyd';

  test('are listed, and another one is ended, with an entry in the audit trail', async () => {
    const [here, elsewhere] = [
      await scene.visitor('read', { owner }),
      await scene.visitor('admin', { owner }),
    ];
    const page = (await here.get('/sessions')).text;
    expect(page).toContain('this browser');
    const [path = '', ...others] = [...page.matchAll(/href="(\/sessions\/[0-9a-f]{64}\/end)"/g)].map(
      ([, each]) => each,
    );
    expect(others).toEqual([]);
    const ended = await here.send(path, {});
    expect([ended.status, ended.headers.get('location')]).toEqual([303, '/sessions']);
    expect((await elsewhere.get('/')).headers.get('location')).toBe('/sign-in');
    expect((await here.get('/')).status).toBe(200);
    const entries = await listAudit(scene.opened.ledger.pool, { action: 'session ended' }, 10);
    expect(entries).toMatchObject([{ who: owner, how: 'dashboard', outcome: 'done' }]);
    expect(entries[0]?.subject).toMatch(/^admin /);
  });

  test('are neither shown to another person nor ended by one', async () => {
    const [cyd, other] = [await scene.visitor('read', { owner }), await scene.visitor('admin')];
    await scene.visitor('read', { owner });
    const [path = ''] = /\/sessions\/[0-9a-f]{64}\/end/.exec((await cyd.get('/sessions')).text) ?? [];
    expect((await other.get('/sessions')).text).not.toContain(path);
    expect((await other.get(path)).status).toBe(404);
    const { csrf = '' } = hiddenFields((await other.get('/zone')).text);
    expect((await other.post(path, { csrf })).status).toBe(422);
    expect((await cyd.get('/sessions')).text).toContain(path);
  });
});

describe('the name of a local dashboard', () => {
  const name = () => new URL(scene.url).hostname;
  const listener = () => scene.url.replace(name(), '127.0.0.1');
  const post = async (host: string): Promise<Response> => {
    const url = scene.url.replace(name(), host);
    const body = new URLSearchParams({ token: await scene.tokenOf('read'), to: '/audit?day=1' });
    return fetch(`${url}/sign-in`, { method: 'POST', body, headers: { origin: url }, redirect: 'manual' });
  };

  test('is random, below localhost, and the one that is printed', () => {
    expect(name()).toMatch(/^[0-9a-f]{32}\.localhost$/);
  });

  test.each(['127.0.0.1', 'localhost'])(
    'a person who signs in at %s gets no cookie there, and is led to the name, once',
    async (host) => {
      const answer = await post(host);
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([200, []]);
      const link = /url=([^"]+)"/.exec(await answer.text())?.[1]?.replaceAll('&amp;', '&') ?? '';
      expect(link).toMatch(/^http:\/\/[0-9a-f]{32}\.localhost:\d+\/sign-in\/[0-9a-f]{64}\?to=/);
      const elsewhere = await fetch(link.replace(name(), '127.0.0.1'));
      expect([elsewhere.status, elsewhere.headers.getSetCookie()]).toEqual([403, []]);
      const signedIn = await fetch(link);
      expect(signedIn.headers.getSetCookie()[0]).toMatch(/^volley_session_\d+=[0-9a-f]{64}; /);
      expect(await signedIn.text()).toContain('url=/audit?day=1"');
      expect((await fetch(link)).status).toBe(403);
    },
  );

  test('a session of the name is none at 127.0.0.1, where no answer says the name', async () => {
    const visitor = await scene.visitor('admin');
    const headers = { cookie: visitor.cookies() };
    const answer = await fetch(`${listener()}/`, { headers, redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/sign-in']);
    for (const path of ['/', '/sign-in', '/none', '/sign-in/x', '/assets/page.css', '/api/v1/runs']) {
      const { headers: head, status } = await fetch(`${listener()}${path}`, { redirect: 'manual' });
      expect(`${status} ${JSON.stringify([...head])}`).not.toContain(name());
      expect(await (await fetch(`${listener()}${path}`)).text()).not.toContain(name());
    }
  });

  test('a browser sends the session to no other program of the machine', async () => {
    const page = await scene.browse('/zone');
    expect(new URL(page.url()).hostname).toBe(name());
    const seen: (string | undefined)[] = [];
    const other = createServer(({ headers }, answer) => {
      seen.push(headers.cookie);
      answer.end();
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' ? address?.port : 0;
    for (const host of ['127.0.0.1', 'localhost', 'other.localhost'])
      await page.goto(`http://${host}:${port}/`);
    expect(seen.length).toBeGreaterThanOrEqual(3);
    expect(seen.filter((cookie) => cookie !== undefined)).toEqual([]);
    other.close();
  });
});

test('a page under another host name is refused, against DNS rebinding', async () => {
  const { request } = await import('node:http');
  const status = await new Promise((resolve) => {
    request(`${scene.url}/sign-in`, { headers: { host: 'evil.example' } }, (answer) => {
      resolve(answer.statusCode);
      answer.resume();
    }).end();
  });
  expect(status).toBe(421);
});

test('every answer forbids scripts from elsewhere, frames and caches', async () => {
  const { headers } = await (await scene.visitor('read')).get('/none');
  expect(headers.get('content-security-policy')).toContain(
    "default-src 'none'; img-src 'self' data:; style-src 'self'; script-src 'self'",
  );
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});

test('the first page is at most 100 kB over the wire', async () => {
  const visitor = await scene.visitor('read');
  const { text } = await visitor.get('/');
  let size = text.length;
  for (const [, path = ''] of text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)) {
    const answer = await fetch(`${scene.url}${path}`, { headers: { 'accept-encoding': 'identity' } });
    expect(answer.status).toBe(200);
    const { gzipSync } = await import('node:zlib');
    size += gzipSync(await answer.text()).length;
  }
  expect(size).toBeLessThan(100_000);
});
