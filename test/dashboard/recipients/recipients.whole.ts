import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { suppressAddresses } from '../../../src/engine/suppressions/suppress-addresses.ts';
import { listAudit } from '../../../src/ledger/audit/audit.ts';
import { eraseRun } from '../../../src/ledger/purge/erase-run.ts';
import { findRequestsByMessageId } from '../../../src/ledger/requests/by-message-id.ts';
import { expectAccessible } from '../../support/accessibility.ts';
import { type DashboardScene, openDashboardScene, type Visitor } from '../../support/dashboard-scene.ts';
import { hostileTexts } from '../../support/live-run.ts';
import { createRequestRows } from '../../support/request-rows.ts';
import { sendDeliveryReport } from '../../support/send-delivery-report.ts';
import { accountsYaml, smsCampaignYaml } from '../../support/workspace.ts';

const twoAccounts = `${accountsYaml}${accountsYaml.replace(/\naccounts:\n {2}sandbox:/, '  other:')}`;
const withChild = `${twoAccounts}${accountsYaml.replace(/\naccounts:\n {2}sandbox:/, '  child:\n    suppressionsOf: other')}`;
const markup = '<script>alert(1)</script>"\'\u202evil مدرسة 🎉';
const contacts = [
  'mobile,name,code',
  '0412 000 001,Ann,C1',
  '0412000002,Bea,C1',
  `+61 412 000 003,"${markup.replaceAll('"', '""')}",C2`,
  'nonsense,Dan,C3',
].join('\n');

let scene: DashboardScene;
let messageIds: readonly string[];
beforeAll(async () => {
  scene = await openDashboardScene({
    files: {
      'accounts.yaml': withChild,
      'campaigns/contacts.csv': `${contacts}\n`,
      'campaigns/other.yaml': smsCampaignYaml.replace(
        'campaign: test\naccount: sandbox',
        'campaign: other\naccount: other',
      ),
    },
  });
  for (const file of ['test', 'test', 'other']) {
    const { code, stderr } = await scene.command(['run', `campaigns/${file}.yaml`]);
    expect(code, stderr).toBe(0);
  }
  const { rows } = await scene.opened.ledger.pool.query(
    "SELECT q.message_id AS id FROM runs CROSS JOIN requests_between(run_id, 1, 9) q WHERE campaign = 'test' ORDER BY created_at DESC, request",
  );
  messageIds = rows.map(({ id }) => id);
});
afterAll(() => scene[Symbol.asyncDispose]());

const search = (text: string, others = {}): string =>
  `/recipients?${new URLSearchParams({ q: text, ...others }).toString()}`;

/** The address of the page of the newest recipient that a search finds. */
async function openFound(visitor: Visitor, text: string): Promise<string> {
  const found = await visitor.get(search(text));
  return /href="(\/runs\/[^"/]+\/recipients\/\d+)"/.exec(found.text)?.[1] ?? expect.fail(found.text);
}

describe('searching', () => {
  test('a number as people write it finds all runs, newest first, in the country of the campaigns', async () => {
    const visitor = await scene.visitor('read');
    for (const text of ['0412 000 001', '+61 412 000 001', '(0412) 000-001']) {
      const page = (await visitor.get(search(text))).text;
      expect(page.match(/href="\/runs\/[^"/]+\/recipients\/2"/g)).toHaveLength(3);
      expect(page.indexOf('>other<')).toBeLessThan(page.indexOf('>test<'));
      expect(page).toContain('Not suppressed');
    }
    const { text } = await visitor.get(search('0412 000 001'));
    expect(text).toContain('Searched as a number of Australia: +61412000001.');
    expect(text).toMatch(/The oldest run that was searched was planned at 20\d\d-/);
  });

  test('a name finds its row, for a token that may search, and only in runs of its accounts', async () => {
    const searcher = await scene.visitor('search');
    const { text } = await searcher.get(search('bea'));
    expect(text).toContain('0412000002 · Bea · C1');
    expect(text.match(/href="\/runs\/[^"/]+\/recipients\/3"/g)).toHaveLength(3);
    const reader = await scene.visitor('read');
    const refused = (await reader.get(search('bea'))).text;
    expect(refused).not.toContain('0412000002');
    expect(refused).toContain('a token with the scope &quot;search&quot;');
    const own = await scene.visitor('search', { accounts: ['other'] });
    expect((await own.get(search('bea'))).text.match(/\/recipients\/3"/g)).toHaveLength(1);
  });

  test('a row that was left out leads to the list of its run', async () => {
    const { text } = await (await scene.visitor('search')).get(search('dan'));
    const [, path = ''] = /href="(\/runs\/[^"]+\/recipients\?state=left\+out&amp;after=4)"/.exec(text) ?? [];
    expect((await (await scene.visitor('read')).get(path.replace('&amp;', '&'))).text).toContain('nonsense');
  });

  test('a MessageID finds its recipient, with the suppressions of the address', async () => {
    const { text } = await (await scene.visitor('read')).get(search(messageIds[1] ?? ''));
    expect(text.match(/href="\/runs\/[^"/]+\/recipients\/3"/g)).toHaveLength(1);
    expect(text).toContain('Nothing keeps runs from sending to <bdi>+61412000002</bdi>');
  });

  test('what nothing is found for says what it was searched as, and markup stays text', async () => {
    const visitor = await scene.visitor('search');
    expect((await visitor.get(search('0412 000 00'))).text).toContain('As a phone number:');
    expect((await visitor.get(search('0412 000 001', { country: 'xx' }))).text).toMatch(
      /id="q-error" role="alert">[^<]*is not a country/,
    );
    for (const hostile of hostileTexts.filter((each) => each.length < 400)) {
      const page = await visitor.get(search(hostile));
      expect(page.status).toBe(200);
      expect(page.text).not.toMatch(/<script>|<img|[\u202a-\u202e\u2066-\u2069]/);
    }
  });

  test('a person sees the runs and suppressions of the accounts of their token only', async () => {
    const keys = [{ channel: 'sms', address: '+61412000002', account: 'other', subAccount: '' }] as const;
    await suppressAddresses(scene.opened.context, keys, 'asked by phone');
    const own = await scene.visitor('read', { accounts: ['sandbox'] });
    const { text } = await own.get(search('+61412000002'));
    expect(text.match(/\/recipients\/3"/g)).toHaveLength(2);
    expect(text).toContain('Not suppressed');
    expect((await own.get('/suppressions')).text).not.toContain('asked by phone');
    const others = await scene.visitor('read', { accounts: ['other'] });
    expect((await others.get(search(messageIds[0] ?? ''))).text).toContain('Nothing was found.');
    expect((await others.get(search('+61412000002'))).text).toContain('asked by phone');
    const path = await openFound(own, '+61412000002');
    expect((await others.get(path)).status).toBe(404);
  });

  test('a person with a token for some accounts sees that others suppressed an address for them, and nothing else of it', async () => {
    const { pool } = scene.opened.ledger;
    const { rows } = await pool.query(
      "SELECT run_id AS run, account FROM runs WHERE campaign IN ('test', 'other')",
    );
    const runOf = (account: string): string => rows.find((row) => row.account === account)?.run;
    const address = '+61412000077';
    const add = (account: string, subAccount: string, run: string | null) =>
      pool.query(
        `INSERT INTO suppressions (channel, address, account, sub_account, reason, run_id, source, added_by, created_at)
         VALUES ('sms', $1, $2, $3, 'words-' || $2 || $3, $4, 'reply', 'bea@desk', now())`,
        [address, account, subAccount, run],
      );
    await add('', '', null);
    await add('', 'ACME', null);
    await add('other', 'North', runOf('other'));
    await add('sandbox', 'South', runOf('sandbox'));
    const pageOf = async (accounts?: readonly string[]) => {
      const person = await scene.visitor('admin', accounts && { accounts });
      return Promise.all(
        [search(address), '/suppressions?channel=sms'].map(async (path) => (await person.get(path)).text),
      );
    };
    const rowsIn = (text: string): number =>
      text.match(/<tr><th scope="row"[^>]*>.*?61412000077/g)?.length ?? 0;
    for (const text of await pageOf()) {
      for (const word of ['ACME', 'North', 'South', 'words-other', 'bea@desk']) expect(text).toContain(word);
      expect(rowsIn(text)).toBe(4);
    }
    for (const text of await pageOf(['child'])) {
      for (const word of ['ACME', 'North', 'South', 'words-', 'bea@desk', runOf('other')])
        expect(text).not.toContain(word);
      expect(rowsIn(text)).toBe(3);
      expect(text.match(/\(one\)/g)).toHaveLength(2);
      expect(text).not.toContain('subAccount=ACME');
    }
    for (const text of await pageOf(['other'])) {
      for (const word of ['North', 'words-otherNorth', runOf('other')]) expect(text).toContain(word);
      for (const word of ['ACME', 'South']) expect(text).not.toContain(word);
    }
  });

  test('a person who may not see SubAccounts gets each suppression on one page of the list', async () => {
    const { pool } = scene.opened.ledger;
    await pool.query(
      `INSERT INTO suppressions (channel, address, account, sub_account, reason, source, added_by, created_at)
       SELECT 'fax', '+6499990000', 'other', 'hidden-' || lpad(number::text, 3, '0'), '', 'import', 'bea@desk', now()
       FROM generate_series(1, 230) AS number`,
    );
    const person = await scene.visitor('admin', { accounts: ['child'] });
    const linesOf = (text: string): number =>
      text.match(/<tr><th scope="row"[^>]*>.*?6499990000/g)?.length ?? 0;
    const pages: number[] = [];
    for (
      let path: string | undefined = '/suppressions?channel=fax';
      path !== undefined && pages.length < 5;
    ) {
      const { text } = await person.get(path);
      expect(text).not.toContain('hidden-');
      pages.push(linesOf(text));
      path = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(pages).toEqual([100, 100, 30]);
    await pool.query("DELETE FROM suppressions WHERE address = '+6499990000'");
  });

  test('the link to more suppressions says nothing of those of others', async () => {
    const { pool } = scene.opened.ledger;
    await pool.query(
      `INSERT INTO suppressions (channel, address, account, sub_account, reason, source, created_at)
       SELECT 'voice', '+6131000' || to_char(number, 'FM0000'), '', 'Hidden ' || number, 'words', 'import', now()
       FROM generate_series(1, 150) number`,
    );
    const person = await scene.visitor('read', { accounts: ['sandbox'] });
    const first = (await person.get('/suppressions?channel=voice')).text;
    expect(first).not.toContain('Hidden');
    const next = /rel="next" href="([^"]+)"/
      .exec(first)?.[1]
      ?.replaceAll('&amp;', '&')
      .replaceAll('&#38;', '&');
    const second = (await person.get(next ?? '')).text;
    expect(second).toContain('+61310000150');
    await pool.query("DELETE FROM suppressions WHERE channel = 'voice' AND reason = 'words'");
  });

  test('a place in the list that nobody can be at begins the list again', async () => {
    const reader = await scene.visitor('read');
    for (const place of ['["sms","\\u0000","",""]', '["sms","","",""]', '[', '{"__proto__":1}'])
      expect((await reader.get(`/suppressions?after=${encodeURIComponent(place)}`)).status).toBe(200);
  });
});

describe('the page of a recipient', () => {
  test('has its text, its row, its attempts and reports, its price, and what else was sent to it', async () => {
    const [messageId = ''] = messageIds;
    await sendDeliveryReport(scene.webhookUrl, { messageId, destination: '+61412000001' });
    const visitor = await scene.visitor('read');
    const path = `/runs/${await runOf(messageId)}/recipients/2`;
    await expect
      .poll(async () => (await visitor.get(path)).text)
      .toContain('delivery report: Success; delivered');
    const { text } = await visitor.get(path);
    expect(text).toContain('Hello Ann');
    expect(text).toContain('A delivery report says that it was delivered.');
    expect(text).toContain('in the contact file: <q dir="auto">0412 000 001</q>');
    expect(text).toContain('<dt dir="auto">code</dt><dd dir="auto">C1</dd>');
    expect(text).toContain('attempt 1: accepted (HTTP 200)');
    expect(text).toContain('0.08');
    expect(text.match(/href="\/runs\/[^"/]+\/recipients\/2"/g)).toHaveLength(2);
    expect(text).not.toContain('Send again');
    expect((await visitor.get(path.replace(/2$/, '5'))).status).toBe(404);
    expect((await visitor.get(path.replace(/2$/, 'x'))).status).toBe(404);
  });

  test('shows the text of its own row, where a request has several', async () => {
    const visitor = await scene.visitor('read');
    const { text } = await visitor.get(await openFound(visitor, '+61412000003'));
    expect(text).toContain('Hello &lt;script&gt;alert(1)');
    expect(text).not.toMatch(/<script>|[\u202a-\u202e]/);
    expect(text).not.toContain('Hello Ann');
  });

  test('one that failed is sent to again alone, over the page of the plan, and by one rerun only', async () => {
    const runner = await scene.visitor('run');
    const path = await openFound(runner, '+61412000003');
    const [, run = ''] = /runs\/([^/]+)/.exec(path) ?? [];
    await createRequestRows(scene.opened.ledger.pool, run);
    await scene.opened.ledger.pool.query(`UPDATE requests SET state = 'rejected' WHERE run_id = $1`, [run]);
    const reader = await scene.visitor('read');
    expect((await reader.get(path)).text).not.toContain('Send again to this one');
    const page = (await runner.get(path)).text;
    const again =
      /href="([^"]+)">Send again to this one/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? expect.fail(page);
    expect((await reader.get(again)).status).toBe(403);
    const sent = await runner.send(again, { reason: 'asked by phone' });
    expect(sent.status, sent.text).toBe(303);
    const [, rerun = ''] = /^\/runs\/([^/]+)$/.exec(sent.headers.get('location') ?? '') ?? [];
    const { rows } = await scene.opened.ledger.pool.query(
      'SELECT address FROM recipient_states WHERE run_id = $1',
      [rerun],
    );
    expect(rows).toEqual([{ address: '+61412000003' }]);
    expect((await runner.get(again)).text).toContain('has been sent to by another rerun');
  });

  test('everything known is exported by administrators of all accounts only', async () => {
    const admin = await scene.visitor('admin');
    const path = await openFound(admin, '+61412000002');
    const answer = await admin.get(`${path}/download?format=json`);
    expect(JSON.parse(answer.text)).toMatchObject({ address: '+61412000002', recipients: [{}, {}, {}] });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    for (const [scope, accounts] of [
      ['run', undefined],
      ['admin', ['sandbox', 'other']],
    ] as const) {
      const other = await scene.visitor(scope, accounts && { accounts });
      expect((await other.get(`${path}/download?format=json`)).status).toBe(403);
      expect((await other.get(path)).text).not.toContain('/download');
    }
  });

  test('after a purge it says what is gone, and keeps the state and the price', async () => {
    const visitor = await scene.visitor('search');
    const path = await openFound(visitor, '+61412000001');
    const [, run = ''] = /runs\/([^/]+)/.exec(path) ?? [];
    const { pool } = scene.opened.ledger;
    await eraseRun(pool, run);
    await pool.query('UPDATE runs SET purged_at = now() WHERE run_id = $1', [run]);
    const { text } = await visitor.get(path);
    expect(text).toContain('An erased recipient');
    expect(text).toContain('It is erased.');
    expect((await visitor.get(search('0412 000 001'))).text).toContain(
      'Purges have erased the recipients of 1 run',
    );
  });
});

async function runOf(messageId: string): Promise<string> {
  const found = await findRequestsByMessageId(scene.opened.ledger.pool, [messageId]);
  return found.get(messageId)?.run ?? '';
}

describe('suppressing', () => {
  const fields = { address: '+61412000001', 'channel-sms': 'on', account: '', reason: 'wrote to us' };

  test('a person who may only read is offered nothing, and is refused', async () => {
    const reader = await scene.visitor('read');
    expect((await reader.get(search('+61412000001'))).text).not.toContain('/suppressions/add');
    expect((await reader.get('/suppressions/add')).status).toBe(403);
    const runner = await scene.visitor('run');
    const path = '/suppressions/remove?channel=sms&address=%2B61412000002&account=other&subAccount=';
    expect((await runner.get(path)).status).toBe(403);
    expect((await runner.get(search('+61412000002'))).text).not.toContain('/suppressions/remove');
  });

  test('two people who suppress an address at once suppress it once, and the page says who and why', async () => {
    const people = await Promise.all(['ann', 'bea'].map((owner) => scene.visitor('run', { owner })));
    const answers = await Promise.all(people.map((person) => person.send('/suppressions/add', fields)));
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    const { rows } = await scene.opened.ledger.pool.query(
      "SELECT added_by FROM suppressions WHERE address = '+61412000001'",
    );
    expect(rows).toHaveLength(1);
    const reader = await scene.visitor('read');
    const { text } = await reader.get(answers[0]?.headers.get('location') ?? '');
    expect(text).toContain('wrote to us');
    expect(text).toContain(`>${rows[0].added_by}</td>`);
    const entries = await listAudit(scene.opened.ledger.pool, { action: 'suppressions added' }, 2);
    expect(entries.map(({ how, details }) => [how, details['added']])).toEqual(
      expect.arrayContaining([
        ['dashboard', 1],
        ['dashboard', 0],
      ]),
    );
    expect(JSON.stringify(entries)).not.toContain('61412000001');
  });

  test('a form without a channel, with a wrong address or without a reason is shown again', async () => {
    const runner = await scene.visitor('run');
    const { 'channel-sms': _, ...none } = fields;
    for (const [given, problem] of [
      [none, 'Choose at least one channel'],
      [{ ...fields, address: '12' }, '12'],
      [{ ...fields, reason: ' ' }, 'Write the reason'],
      [{ ...fields, 'channel-email': 'on' }, 'cannot be suppressed in the channel email'],
      [{ ...fields, account: 'nobody' }, 'has no account'],
    ] as const) {
      const { status, text } = await runner.send('/suppressions/add', given);
      expect(status).toBe(422);
      expect(text).toContain(problem);
    }
  });

  test('a token for some accounts suppresses for those only, and ends only their suppressions', async () => {
    const own = await scene.visitor('admin', { accounts: ['sandbox'] });
    expect((await own.send('/suppressions/add', fields)).text).toContain('Choose an account');
    expect((await own.send('/suppressions/add', { ...fields, account: 'other' })).status).toBe(422);
    const { status } = await own.send('/suppressions/add', {
      ...fields,
      address: '+61412000003',
      account: 'sandbox',
    });
    expect(status).toBe(303);
    const remove = (address: string, account: string) =>
      `/suppressions/remove?${new URLSearchParams({ channel: 'sms', address, account, subAccount: '' }).toString()}`;
    expect((await own.get(remove('+61412000001', ''))).status).toBe(403);
    expect((await own.get(remove('+61412000002', 'other'))).status).toBe(404);
    const done = await own.send(remove('+61412000003', 'sandbox'), { reason: 'asked again' });
    expect(done.status).toBe(303);
    expect((await own.get(remove('+61412000003', 'sandbox'))).status).toBe(404);
    const [entry] = await listAudit(scene.opened.ledger.pool, { action: 'suppressions removed' }, 1);
    expect(entry?.details).toMatchObject({ reason: 'asked again', removed: 1, accounts: ['sandbox'] });
  });

  test('the list is paged and filtered, and goes on after its last address', async () => {
    const { context } = scene.opened;
    const keys = Array.from({ length: 150 }, (_, index) => ({
      channel: 'fax' as const,
      address: `+6129000${String(index).padStart(4, '0')}`,
      account: '',
      subAccount: markup,
    }));
    await suppressAddresses(context, keys, markup);
    const visitor = await scene.visitor('read');
    const first = (await visitor.get('/suppressions?channel=fax')).text;
    expect(first).toContain('150 suppressions.');
    expect(first).not.toMatch(/<script>|\u202e/);
    const next =
      /rel="next" href="([^"]+)"/.exec(first)?.[1]?.replaceAll('&amp;', '&').replaceAll('&#38;', '&') ?? '';
    const second = (await visitor.get(next)).text;
    expect(second).toContain('+61290000100');
    expect(second).not.toContain('+61290000099');
    expect((await visitor.get('/suppressions?channel=fax&source=reply')).text).toContain(
      'no such suppression',
    );
    expect((await visitor.get('/suppressions?after=%5B1')).status).toBe(200);
  });
});

describe('in a browser', () => {
  test('a person suppresses and unsuppresses an address by keyboard alone', async () => {
    const page = await scene.browse('/recipients');
    await page.locator('#q').focus();
    await page.keyboard.type('0412 000 003');
    await page.keyboard.press('Tab');
    await page.keyboard.type('au');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Not suppressed' }).waitFor();
    await page.getByRole('link', { name: 'Suppress this address' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Reason').focus();
    await page.keyboard.type('left the club');
    await page.keyboard.press('Enter');
    await page.getByText('The address was suppressed in 4 channels.').waitFor();
    await page.getByRole('link', { name: 'Unsuppress +61412000003 for sms' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Reason').focus();
    await page.keyboard.type('came back');
    await page.keyboard.press('Enter');
    await page.getByText('no longer suppressed for sms').waitFor();
  });

  test('no rule of WCAG is broken, light and dark, and nothing is wider than the page', async () => {
    const page = await scene.browse('/recipients', { width: 360 });
    for (const path of [
      '/recipients',
      search('+61412000001'),
      search('12'),
      search('+61412000003'),
      '/suppressions',
      '/suppressions/add?address=%2B61412000001',
      '/suppressions/remove?channel=sms&address=%2B61412000001&account=&subAccount=',
    ]) {
      await page.goto(`${scene.url}${path}`);
      await expectAccessible(page);
    }
  });
});
