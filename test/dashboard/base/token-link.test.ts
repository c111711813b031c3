import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createToken,
  createTokenCheck,
  createTokenLink,
  revokeToken,
} from '../../../src/engine/access/tokens.ts';
import { listAudit } from '../../../src/ledger/audit/audit.ts';
import { listTokens } from '../../../src/ledger/tokens/tokens.ts';
import { openLogger } from '../../../src/platform/logger.ts';
import { openBareDashboard } from '../../support/bare-dashboard.ts';
import { signIn } from '../../support/dashboard-scene.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
const logged: string[] = [];
let dashboard: Awaited<ReturnType<typeof openBareDashboard>>;
let url: string;
beforeAll(async () => {
  dashboard = await openBareDashboard(opened.context, {
    logger: openLogger('trace', 'info', { write: (line) => void logged.push(line) }),
  });
  url = dashboard.address;
});
afterAll(() => dashboard.close());

const request = (name: string) =>
  ({ name, owner: 'Jane', scope: 'read', accounts: ['main'], expiresAt: null }) as const;
const linkFor = async (name: string): Promise<string> =>
  (await createTokenLink(opened.context, request(name))).secret;

type Given = { readonly link: string; readonly use?: 'true' };
const post = async (given: Given, headers: Readonly<Record<string, string>> = { origin: url }, at = url) => {
  const body = new URLSearchParams(given);
  const answer = await fetch(`${at}/sign-in/link`, { method: 'POST', body, headers, redirect: 'manual' });
  const text = await answer.text();
  const [cookie = ''] = answer.headers.getSetCookie().map((each) => each.replace(/;.*/, ''));
  return { status: answer.status, text, cookie, token: /volley_[0-9a-f]{48}/.exec(text)?.[0] };
};
const look = (link: string) => post({ link });
const use = (link: string) => post({ link, use: 'true' });
const change = (name: string, sql: string) =>
  opened.ledger.pool.query(`UPDATE tokens SET ${sql} WHERE name = $1`, [name]);

describe('a link to a token', () => {
  test('says for whom it is and what it allows, then signs its person in, and shows the token once', async () => {
    const secret = await linkFor('jane');
    const offered = await look(`https://volley.example/sign-in#${secret}`);
    expect([offered.status, offered.token, offered.cookie]).toEqual([200, undefined, '']);
    expect(offered.text).toContain('Sign in as Jane');
    expect(offered.text).toMatch(/<strong>read<\/strong> \(lists, status and reports\) for <bdi>main<\/bdi>/);
    const used = await use(secret);
    expect(used.status).toBe(200);
    const start = await fetch(`${url}/`, { headers: { cookie: used.cookie } });
    expect(await start.text()).toContain('<bdi>Jane</bdi>');
    expect((await (await signIn(url, used.token ?? '')).get('/')).text).toContain('<bdi>Jane</bdi>');
    const entries = await listAudit(opened.ledger.pool, { action: 'token link used' }, 10);
    expect(entries).toMatchObject([{ who: 'Jane', how: 'dashboard', token: 'jane', subject: 'jane' }]);
  });

  test('is not used up by programs that look at it, however often', async () => {
    const secret = await linkFor('scanned');
    for (const method of ['GET', 'HEAD'])
      for (const path of [
        '/sign-in',
        '/sign-in/link',
        `/sign-in/${secret}`,
        `/sign-in/link?link=${secret}&use=true`,
      ])
        expect((await fetch(`${url}${path}`, { method })).headers.getSetCookie()).toEqual([]);
    for (let times = 0; times < 3; times++) expect((await look(secret)).status).toBe(200);
    expect((await use(secret)).token).toBeDefined();
  });

  test('says the second time when it was used, and by whom its token is revoked', async () => {
    const secret = await linkFor('twice');
    await use(secret);
    for (const again of [await look(secret), await use(secret)]) {
      expect([again.status, again.token, again.cookie]).toEqual([422, undefined, '']);
      expect(again.text).toMatch(
        /works once, and was used at <time[^>]+>.*ask <bdi>[^<]+<\/bdi> at once to revoke/,
      );
    }
  });

  test('gives one of two callers at once the token', async () => {
    const secret = await linkFor('race');
    const answers = await Promise.all([1, 2, 3, 4].map(() => use(secret)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422, 422, 422]);
    const [token = '', ...others] = answers.flatMap((answer) => answer.token ?? []);
    expect(others).toEqual([]);
    expect((await createTokenCheck(opened.context)(token)).kind).toBe('valid');
  });

  test('says that it has expired: after 24 hours, and when its token expires before', async () => {
    for (const [name, sql] of [
      ['late', "link_expires_at = now() - interval '1 second'"],
      ['short', 'expires_at = now()'],
    ] as const) {
      const secret = await linkFor(name);
      await change(name, sql);
      for (const answer of [await look(secret), await use(secret)]) {
        expect([name, answer.status, answer.token]).toEqual([name, 422, undefined]);
        expect(answer.text).toContain('The link has expired. Ask <bdi>');
      }
    }
    const created = await createTokenLink(opened.context, request('a day'));
    const hours = (created.expiresAt.getTime() - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(23.9);
    expect(hours).toBeLessThanOrEqual(24);
  });

  test('says that it was revoked, and a session opened with it ends with its token', async () => {
    const secret = await linkFor('gone');
    await revokeToken(opened.context, 'gone');
    expect((await use(secret)).text).toContain('The link was revoked. Ask <bdi>');
    const { cookie } = await use(await linkFor('left'));
    const start = () => fetch(`${url}/`, { headers: { cookie }, redirect: 'manual' });
    expect((await start()).status).toBe(200);
    await revokeToken(opened.context, 'left');
    expect((await start()).status).toBe(303);
  });

  test('whose form is of another site does nothing', async () => {
    const secret = await linkFor('forged');
    for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }, {}])
      expect((await post({ link: secret, use: 'true' }, headers)).status).toBe(403);
    expect((await use(secret)).status).toBe(200);
  });

  test('gives its token at 127.0.0.1 too, where no session is kept', async () => {
    const local = url.replace(new URL(url).hostname, '127.0.0.1');
    const used = await post({ link: await linkFor('local'), use: 'true' }, { origin: local }, local);
    expect([used.status, used.cookie]).toEqual([200, '']);
    expect((await (await signIn(url, used.token ?? '')).get('/')).status).toBe(200);
  });

  test('that stayed unused frees the name of its token, and no other does', async () => {
    const first = await linkFor('again');
    await expect(createToken(opened.context, request('again'))).rejects.toThrow('exists or existed');
    await change('again', 'link_expires_at = now()');
    const second = await linkFor('again');
    expect((await use(first)).text).toContain('There is no such link');
    await revokeToken(opened.context, 'again');
    const third = await linkFor('again');
    expect((await use(second)).text).toContain('There is no such link');
    expect((await use(third)).status).toBe(200);
    await revokeToken(opened.context, 'again');
    await expect(linkFor('again')).rejects.toThrow('exists or existed');
  });

  test.each([
    ['markup', '<img src=x onerror=alert(1)> & "quotes"'],
    ['long', 'W'.repeat(200)],
    ['arabic', 'مدرسة 🎉'],
  ])('for a person with a hostile name shows it as text: %s', async (name, owner) => {
    const { secret } = await createTokenLink(opened.context, { ...request(name), owner });
    const texts = [(await look(secret)).text, (await use(secret)).text, (await use(secret)).text];
    for (const text of texts) expect(text).not.toContain('<img');
    expect(texts[0]).toContain(owner.replaceAll('&', '&amp;').replaceAll('<', '&lt;').slice(0, 5));
  });

  test.each(['', 'x', 'f'.repeat(64), `${'f'.repeat(64)}\n`, 'f'.repeat(60_000), '\0', '#'])(
    'that was not copied whole is refused: %#',
    async (link) => {
      expect([(await use(link)).status, (await look(link)).status]).toEqual([422, 422]);
    },
  );

  test('is in no log line, and the ledger has neither its secret nor its token', async () => {
    const secret = await linkFor('secret');
    const { token = '' } = await use(secret);
    const { rows } = await opened.ledger.pool.query('SELECT * FROM tokens');
    const audit = await listAudit(opened.ledger.pool, {}, 1_000);
    const kept = JSON.stringify([rows, audit, logged]);
    expect(logged.join('')).toContain('"token":"secret"');
    for (const text of [secret, token]) expect(kept).not.toContain(text);
  });

  test('stands in the list of tokens as open, then as valid', async () => {
    const secret = await linkFor('listed');
    const find = async () => (await listTokens(opened.ledger.pool)).find(({ name }) => name === 'listed');
    expect((await find())?.linkUsedAt).toBeNull();
    await use(secret);
    expect((await find())?.linkUsedAt).toBeInstanceOf(Date);
  });
});

test('guesses of links are counted as wrong tokens are, and a good link still works', async () => {
  const own = await openBareDashboard(opened.context);
  try {
    const at = own.address;
    const guess = async (link: string) => (await post({ link }, { origin: at }, at)).status;
    const statuses: number[] = [];
    for (let guesses = 0; guesses < 61; guesses++) statuses.push(await guess('f'.repeat(64)));
    expect(new Set(statuses.slice(0, 60))).toEqual(new Set([422]));
    expect(statuses.at(-1)).toBe(429);
    expect(await guess(await linkFor('good'))).toBe(200);
  } finally {
    await own.close();
  }
});

test('password managers find a name and a token on both forms', async () => {
  const page = await (await fetch(`${url}/sign-in`)).text();
  const form = /<form method="post" action="\/sign-in">.*?<\/form>/s.exec(page)?.[0] ?? '';
  expect(form.match(/autocomplete="[^"]+"/g)).toEqual([
    'autocomplete="username"',
    'autocomplete="current-password"',
  ]);
  const { text } = await use(await linkFor('kept'));
  const kept = /<form method="post" action="\/sign-in">.*?<\/form>/s.exec(text)?.[0] ?? '';
  expect(kept).toMatch(/name="username" value="kept" autocomplete="username"/);
  expect(kept).toMatch(
    /name="token" value="volley_[0-9a-f]{48}" type="password" readonly autocomplete="new-password"/,
  );
});
