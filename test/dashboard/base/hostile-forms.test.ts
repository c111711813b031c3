import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createToken } from '../../../src/engine/access/tokens.ts';
import { openLogger } from '../../../src/platform/logger.ts';
import type { CallLimits } from '../../../src/server/api/call-limits.ts';
import { openBareDashboard } from '../../support/bare-dashboard.ts';
import { hiddenFields, signIn } from '../../support/dashboard-scene.ts';
import { openRawConnection, sendRaw, statusesOf } from '../../support/raw-http.ts';
import { planRunInDoubt } from '../../support/run-in-doubt.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
let dashboard: Awaited<ReturnType<typeof openBareDashboard>>;
let address: string;
let host: string;
let token: string;
let callLimits: CallLimits;
const logged: string[] = [];
/** Answers to requests for streams. */
const streams: ServerResponse[] = [];
/** Paths of requests that passed all checks before their body is read. */
const beingRead: string[] = [];
beforeAll(async () => {
  dashboard = await openBareDashboard(opened.context, {
    publicUrl: 'https://volley.example',
    logger: openLogger('warn', 'info', { write: (line) => void logged.push(line) }),
    watch: (server, limits) => {
      callLimits = limits;
      server.addHook(
        'onRequest',
        async ({ url }, { raw }) => void (url === '/runs/live' && streams.push(raw)),
      );
      server.addHook('preParsing', async ({ url }) => void beingRead.push(url));
    },
  });
  address = dashboard.address;
  host = new URL(address).host;
  const asked = { name: 'bob', scope: 'read', owner: 'bob', accounts: ['main'], expiresAt: null } as const;
  token = await createToken(opened.context, asked);
});
afterAll(async () => {
  await dashboard.close();
});

/** A form of the dashboard's own page. */
function headOf(path: string, fields: Readonly<Record<string, string | number>>): string {
  const all = { Host: host, Origin: `http://${host}`, ...fields };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

const urlEncoded = { 'Content-Type': 'application/x-www-form-urlencoded' };

describe('behind a proxy with TLS', () => {
  test('a form of a page without TLS is refused, also under the same name', async () => {
    const body = `token=${token}`;
    const send = (origin: string) =>
      sendRaw(
        dashboard.listener,
        headOf('/sign-in', {
          ...urlEncoded,
          Host: 'volley.example',
          Origin: origin,
          Connection: 'close',
          'Content-Length': body.length,
        }) + body,
      );
    expect(statusesOf(await send('http://volley.example'))).toEqual([403]);
    const signedIn = await send('https://volley.example');
    expect(statusesOf(signedIn)).toEqual([303]);
    expect(signedIn).toMatch(
      /set-cookie: __Host-volley_session=[0-9a-f]{64}; .*; HttpOnly; Secure; SameSite/i,
    );
  });

  test('every answer at the address of the proxy says that browsers use https from then on, and no other answer does', async () => {
    const ask = (asked: string) =>
      sendRaw(dashboard.listener, `GET /sign-in HTTP/1.1\r\nHost: ${asked}\r\nConnection: close\r\n\r\n`);
    expect(await ask('volley.example')).toMatch(/^strict-transport-security: max-age=31536000\r$/im);
    expect(await ask(host)).not.toMatch(/strict-transport-security/i);
  });
});

describe('forms that arrive byte by byte', () => {
  test('without a session do not keep others from the pages, and are no failures in the log', async () => {
    const paths = ['/sign-in', '/sign-out', '/suppressions/add'];
    const slow = await Promise.all(
      Array.from({ length: 210 }, (_, index) =>
        openRawConnection(
          dashboard.listener,
          `${headOf(paths[index % 3] ?? '', { ...urlEncoded, 'Content-Length': 100 })}a`,
        ),
      ),
    );
    await expect
      .poll(() => slow.filter(({ socket }) => !socket.destroyed && !socket.closed).length)
      .toBeLessThanOrEqual(20);
    const person = await signIn(address, token);
    expect((await person.get('/zone')).status).toBe(200);
    for (const { socket } of slow) socket.destroy();
    await Promise.all(slow.map(({ ended }) => ended));
    expect((await person.get('/zone')).status).toBe(200);
    expect(logged).toEqual([]);
  });

  test('of a person who has signed in are not replaced by those of others', async () => {
    const person = await signIn(address, token);
    const { csrf = '' } = hiddenFields((await person.get('/zone')).text);
    const body = `csrf=${encodeURIComponent(csrf)}&zone=UTC`;
    const head = headOf('/zone', {
      ...urlEncoded,
      Cookie: person.cookies(),
      Connection: 'close',
      'Content-Length': body.length,
    });
    const countOwn = () => beingRead.filter((path) => path === '/zone').length;
    const before = countOwn();
    const own = await openRawConnection(dashboard.listener, head + body.slice(0, -1));
    await expect.poll(countOwn).toBeGreaterThan(before);
    const others = await Promise.all(
      Array.from({ length: 40 }, () =>
        openRawConnection(dashboard.listener, headOf('/sign-in', { ...urlEncoded, 'Content-Length': 100 })),
      ),
    );
    await expect.poll(() => others.filter(({ socket }) => socket.closed).length).toBeGreaterThan(10);
    own.socket.write(body.slice(-1));
    expect(statusesOf(await own.ended)).toEqual([303]);
    for (const { socket } of others) socket.destroy();
  });
});

test('after a file whose form is refused, the connection answers the next request', async () => {
  const person = await signIn(address, token);
  const part = (name: string, text: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
  const body = `${part('csrf', 'of another')}${part('invoice"; filename="a.csv', 'x'.repeat(1_000_000))}--b--\r\n`;
  const head = headOf('/billing/reconcile', {
    Cookie: person.cookies(),
    'Content-Type': 'multipart/form-data; boundary=b',
    'Content-Length': body.length,
  });
  const next = `GET /sign-in HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  expect(statusesOf(await sendRaw(dashboard.listener, head + body + next))).toEqual([403, 200]);
});

test('one token does not take the streams of all, with however many sessions', async () => {
  const stop = new AbortController();
  const firstOf = async (cookie: string): Promise<string> => {
    const headers = { cookie, accept: 'text/event-stream' };
    const answer = await fetch(`${address}/runs/live`, { headers, signal: stop.signal });
    return new TextDecoder().decode((await answer.body?.getReader().read())?.value);
  };
  const texts: string[] = [];
  for (let sessions = 0; sessions < 4; sessions++) {
    const { cookies } = await signIn(address, token);
    texts.push(...(await Promise.all(Array.from({ length: 20 }, () => firstOf(cookies())))));
  }
  expect(texts.filter((text) => text.includes('Too many'))).toHaveLength(20);
  stop.abort();
});

test('streams whose pages are gone before the ledger answers take no place of others', async () => {
  const person = await signIn(address, token);
  const { cookies } = person;
  const already = { streams: streams.length, read: beingRead.length };
  const lock = await opened.ledger.pool.connect();
  await lock.query('BEGIN; LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE');
  const head = `GET /runs/live HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookies()}\r\n\r\n`;
  const pages = await Promise.all(
    Array.from({ length: 20 }, () => openRawConnection(dashboard.listener, head)),
  );
  await expect.poll(() => streams.length - already.streams).toBe(pages.length);
  for (const { socket } of pages) socket.destroy();
  await expect.poll(() => streams.every(({ closed }) => closed)).toBe(true);
  await lock.query('COMMIT');
  lock.release();
  await expect.poll(() => beingRead.length - already.read).toBe(pages.length);
  expect((await person.get('/zone')).status).toBe(200);
  const stop = new AbortController();
  const asked = { headers: { cookie: cookies() }, signal: stop.signal };
  const first = await (await fetch(`${address}/runs/live`, asked)).body?.getReader().read();
  expect(new TextDecoder().decode(first?.value)).not.toContain('Too many');
  stop.abort();
});

test('downloads that nobody reads do not keep others from the pages', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const reply = { raw: new ServerResponse(new IncomingMessage(new Socket())) };
  const unread = ['ann', 'eve'].map((name) => callLimits.report(reply, name, () => promise));
  const person = await signIn(address, token);
  for (const path of ['/billing', '/recipients?q=%2B61412000001', '/billing?from=&to='])
    expect([path, (await person.get(path)).status]).toEqual([path, 200]);
  expect((await person.get('/billing/download?from=&to=&format=csv')).status).toBe(503);
  resolve();
  await Promise.all(unread);
});

describe('a person with a token for all accounts', () => {
  const all = { scope: 'admin', owner: 'eve', accounts: null, expiresAt: null } as const;

  test('revokes nothing with a form without the field of the reason', async () => {
    const person = await signIn(address, await createToken(opened.context, { ...all, name: 'eve' }));
    const { csrf = '' } = hiddenFields((await person.get('/tokens/bob/revoke')).text);
    const answer = await person.post('/tokens/bob/revoke', { csrf });
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('Write the reason')]);
    expect((await signIn(address, token)).cookies()).not.toBe('');
  });

  test('is asked for another date where the audit trail has none such, also at the end of the calendar', async () => {
    const person = await signIn(address, await createToken(opened.context, { ...all, name: 'eve 3' }));
    for (const query of ['until=9999-12-31', 'since=2026-02-30', 'until=tomorrow']) {
      const { status, text } = await person.get(`/audit?${query}`);
      expect([query, status, text]).toEqual([query, 200, expect.stringContaining('Expected a date')]);
    }
  });

  test('opens a stream after twenty whose browser left before they were opened', async () => {
    const run = await planRunInDoubt(opened.ledger, { requests: 1 });
    const person = await signIn(address, await createToken(opened.context, { ...all, name: 'eve 2' }));
    const path = `/runs/${run}/live`;
    const lock = await opened.ledger.pool.connect();
    await lock.query('BEGIN');
    await lock.query('LOCK TABLE runs');
    const head = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nCookie: ${person.cookies()}\r\n\r\n`;
    const left = await Promise.all(
      Array.from({ length: 20 }, () => openRawConnection(dashboard.listener, head)),
    );
    await expect.poll(() => beingRead.filter((each) => each === path).length).toBe(20);
    for (const { socket } of left) socket.destroy();
    await Promise.all(left.map(({ ended }) => ended));
    await lock.query('ROLLBACK');
    lock.release();
    const readFirst = async (): Promise<string> => {
      const stop = new AbortController();
      const headers = { cookie: person.cookies() };
      const answer = await fetch(`${address}${path}`, { headers, signal: stop.signal });
      const { value } = (await answer.body?.getReader().read()) ?? {};
      stop.abort();
      return new TextDecoder().decode(value);
    };
    await expect.poll(readFirst).toMatch(/^data: (?!.*Too many)/);
  });
});

test('closing a month is forbidden with a token for some accounts', async () => {
  const asked = { scope: 'admin', owner: 'ann', accounts: ['main'], expiresAt: null, name: 'ann' } as const;
  const person = await signIn(address, await createToken(opened.context, asked));
  expect((await person.get('/billing/close?month=2026-09&timeZone=UTC')).status).toBe(403);
});
