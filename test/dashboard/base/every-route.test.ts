import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TokenScope } from '../../../src/domain/access.ts';
import { createToken } from '../../../src/engine/access/tokens.ts';
import { openBareDashboard } from '../../support/bare-dashboard.ts';
import { signIn, type Visitor } from '../../support/dashboard-scene.ts';
import { testLedger } from '../../support/test-ledger.ts';

/** Without a session: signing in, and what its page loads. */
const open = ['/sign-in', '/sign-in/link', '/sign-in/:secret', '/sign-out', '/assets/:name'];
/** A person who may only read may change the zone of their browser, end their sessions, and compare an invoice. */
const forReaders = ['/zone', '/billing/reconcile', '/sessions/:session/end'];
/** Their forms have a file. */
const withFile = ['/billing/reconcile', '/campaigns/:file/list'];

const opened = testLedger();
let dashboard: Awaited<ReturnType<typeof openBareDashboard>>;
const routes: { readonly method: string; readonly url: string }[] = [];
beforeAll(async () => {
  dashboard = await openBareDashboard(opened.context, {
    watch: (server) => {
      server.addHook('onRoute', ({ method, url }) => {
        routes.push(...[method].flat().map((each) => ({ method: each, url })));
      });
    },
  });
});
afterAll(async () => {
  await dashboard.close();
});

const closed = (method: string) =>
  routes.filter((route) => route.method === method && !open.includes(route.url)).map(({ url }) => url);
const pathOf = (url: string): string => url.replaceAll(/:\w+/g, 'some');
const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${dashboard.address}${path}`, { redirect: 'manual', ...init });

let tokens = 0;
const visitor = async (scope: TokenScope): Promise<Visitor> => {
  const asked = { name: `token ${++tokens}`, scope, owner: 'ann', accounts: null, expiresAt: null };
  return signIn(dashboard.address, await createToken(opened.context, asked));
};
const csrfOf = async (person: Visitor): Promise<string> =>
  /name="csrf" value="([^"]+)"/.exec((await person.get('/zone')).text)?.[1] ?? '';

test('the routes are known', () => {
  expect(closed('GET').length).toBeGreaterThan(40);
  expect(closed('POST').length).toBeGreaterThan(10);
  expect([...new Set(routes.map(({ method }) => method))].toSorted()).toEqual(['GET', 'HEAD', 'POST']);
});

test('without a session no route answers, and a stream says that the session has ended', async () => {
  for (const method of ['GET', 'POST']) {
    for (const url of closed(method)) {
      const answer = await ask(pathOf(url), { method, headers: { origin: dashboard.address } });
      expect([method, url, answer.status]).toEqual([method, url, 303]);
      expect(answer.headers.get('location')).toMatch(/^\/sign-in/);
    }
  }
  const stream = await ask('/runs/live', { headers: { accept: 'text/event-stream' } });
  expect(await stream.text()).toContain('Your session has ended');
});

test('a HEAD is answered as a GET without a body, and opens no stream', async () => {
  const person = await visitor('admin');
  const headers = { cookie: person.cookies() };
  for (const url of ['/sign-in', '/', '/campaigns', '/billing.csv', '/runs/some', '/none']) {
    const get = await ask(url, { headers });
    const size = (await get.text()).length;
    const head = await ask(url, { method: 'HEAD', headers });
    expect([url, head.status, (await head.text()).length]).toEqual([url, get.status, 0]);
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
    expect(size).toBeGreaterThan(0);
  }
  const streams = closed('GET').filter((url) => url.endsWith('/live'));
  expect(streams.length).toBeGreaterThan(5);
  for (const url of streams) {
    const answer = await ask(pathOf(url), { method: 'HEAD', headers });
    expect([url, answer.status]).toEqual([url, 404]);
  }
});

test('an address that cannot be decoded, or is too long, is answered with a page', async () => {
  const person = await visitor('admin');
  for (const path of ['/%FF', '/runs/%E0%A4%A', '/runs/%?q=%FF', `/runs/${'a'.repeat(2_000)}`]) {
    const answer = await ask(path, { headers: { cookie: person.cookies() } });
    const text = await answer.text();
    expect([path.slice(0, 20), answer.status]).toEqual([path.slice(0, 20), 404]);
    expect([path.slice(0, 20), answer.headers.get('content-type')]).toEqual([
      path.slice(0, 20),
      'text/html; charset=utf-8',
    ]);
    expect(answer.headers.get('x-frame-options')).toBe('DENY');
    expect(text).toContain('<main');
  }
});

describe('a form', () => {
  test('without the CSRF token of its session, or of another origin, is refused by every route', async () => {
    const person = await visitor('admin');
    const other = await csrfOf(await visitor('admin'));
    const own = await csrfOf(person);
    for (const url of closed('POST')) {
      const path = pathOf(url);
      // Its own tests send a form with a file.
      const refused = withFile.includes(url) ? [403, 406, 422] : [403];
      expect([url, refused.includes((await person.post(path, { reason: 'x' })).status)]).toEqual([url, true]);
      const foreign = await person.post(path, { csrf: other, reason: 'x' });
      expect([url, refused.includes(foreign.status)]).toEqual([url, true]);
      for (const origin of ['https://evil.example', 'null', dashboard.address.replace('http:', 'https:')]) {
        const elsewhere = await person.post(path, { csrf: own, reason: 'x' }, { origin });
        expect([url, origin, elsewhere.status]).toEqual([url, origin, 403]);
      }
    }
  });

  test('of a person who may only read is refused by every route that changes something', async () => {
    const reader = await visitor('read');
    const csrf = await csrfOf(reader);
    for (const url of closed('POST').filter((each) => !forReaders.includes(each))) {
      const answer = await reader.post(pathOf(url), { csrf, reason: 'x' });
      expect([url, answer.status]).toEqual([url, 403]);
    }
  });
});

test('names that every object has are neither fields nor parts of a path', async () => {
  const person = await visitor('admin');
  const csrf = await csrfOf(person);
  const names = { __proto__: 'x', constructor: 'x', toString: 'x' };
  for (const path of ['/', '/billing', '/audit', '/recipients', '/campaigns', '/suppressions'])
    expect((await person.get(`${path}?__proto__=x&constructor=x&toString=x&q[a]=b`)).status).toBeLessThan(
      500,
    );
  expect((await person.post('/zone', { ...names, csrf, zone: 'UTC' })).status).toBe(303);
  for (const file of ['__proto__', 'constructor', 'toString'])
    expect((await person.get(`/campaigns/${file}`)).status).not.toBe(200);
});

test('no text in an address makes a page fail', async () => {
  const person = await visitor('admin');
  const texts = ['%00', '%ED%A0%80', '%F0%9F%8E%89', "'%22%3E%3Cb%3E", '9'.repeat(400), '%E2%80%AE'];
  const pages = closed('GET').filter((url) => !url.endsWith('/live'));
  const failed: string[] = [];
  for (const url of pages) {
    for (const text of texts) {
      const query = ['q', 'before', 'after', 'request', 'account', 'month', 'from', 'until', 'state', 'group']
        .map((name) => `${name}=${text}`)
        .join('&');
      const { status } = await person.get(`${url.replaceAll(/:\w+/g, text)}?${query}`);
      if (status >= 500) failed.push(`${url} with ${text.slice(0, 12)}: ${status}`);
    }
  }
  expect(failed).toEqual([]);
});

test('no text in a form makes an action fail', async () => {
  const person = await visitor('admin');
  const csrf = await csrfOf(person);
  const failed: string[] = [];
  for (const url of closed('POST').filter((each) => !withFile.includes(each))) {
    for (const text of ['a\0b', '\u202e🎉<b>', '9'.repeat(60_000)]) {
      const names = [
        'reason',
        'key',
        'name',
        'owner',
        'scope',
        'days',
        'zone',
        'to',
        'address',
        'channel',
        'account',
      ];
      const fields = Object.fromEntries(names.map((name) => [name, text.slice(0, 6_000)]));
      const { status } = await person.post(pathOf(url), { ...fields, csrf });
      if (status >= 500) failed.push(`${url} with ${JSON.stringify(text.slice(0, 5))}: ${status}`);
    }
  }
  expect(failed).toEqual([]);
});

test('an address without a page has a menu for a person who is signed in, and for nobody else', async () => {
  const person = await (await visitor('read')).get('/no-such-page');
  expect([person.status, person.text.includes('Sign out')]).toEqual([404, true]);
  const stranger = await ask('/no-such-page');
  expect([stranger.status, (await stranger.text()).includes('Sign out')]).toEqual([404, false]);
});
