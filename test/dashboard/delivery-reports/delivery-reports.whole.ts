import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bookBilling } from '../../../src/engine/billing/billing.ts';
import { listAudit } from '../../../src/ledger/audit/audit.ts';
import { cancelRun } from '../../../src/ledger/runs/stop.ts';
import { expectAccessible } from '../../support/accessibility.ts';
import { type DashboardScene, hiddenFields, openDashboardScene } from '../../support/dashboard-scene.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { hostileTexts } from '../../support/live-run.ts';
import { callWebhook, sendDeliveryReport } from '../../support/send-delivery-report.ts';
import { accountsYaml } from '../../support/workspace.ts';

const withLookUp = accountsYaml.replace('    interface', '    statusLookUp: on\n    interface');
const twoAccounts = `${withLookUp}${accountsYaml.replace(/\naccounts:\n {2}sandbox:/, '  other:')}`;

let scene: DashboardScene;
let run: string;
let messageIds: readonly string[];
beforeAll(async () => {
  scene = await openDashboardScene({ files: { 'accounts.yaml': twoAccounts } });
  const { code, stderr } = await scene.command(['run', 'campaigns/test.yaml']);
  expect(code, stderr).toBe(0);
  const { rows } = await scene.opened.ledger.pool.query(
    'SELECT q.run_id, q.message_id AS id FROM runs CROSS JOIN requests_between(run_id, 1, 9) q ORDER BY request',
  );
  run = rows[0].run_id;
  messageIds = rows.map(({ id }) => id);
});
afterAll(() => scene[Symbol.asyncDispose]());

const address = (index: number): string => `+6141200000${index}`;
const report = (index: number, others = {}) =>
  sendDeliveryReport(scene.webhookUrl, {
    messageId: messageIds[index] ?? '',
    destination: address(index),
    ...others,
  });
const rowOf = (text: string, name: string): string =>
  new RegExp(`<tr>(?:(?!</tr>)[\\s\\S])*>${name}<[\\s\\S]*?</tr>`).exec(text)?.[0] ?? '';

describe('figures', () => {
  test('an open page shows what arrives within moments, without a reload', async () => {
    const page = await scene.browse('/delivery-reports', { scope: 'read' });
    await page.getByText('No delivery report has arrived yet').waitFor();
    await report(0);
    await report(0, { status: 'Failed', result: 'Bad Number' });
    await sendDeliveryReport(scene.webhookUrl, { messageId: 'unknown-1', destination: '+61412999999' });
    await callWebhook(scene.webhookUrl, { headers: { 'content-type': 'application/json' }, body: '{"a":' });
    await page.getByText('What arrives is applied at once').waitFor();
    for (const name of ['Conflicting', 'Unmatched', 'Unreadable']) {
      const row = page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
      await expect.poll(() => row.getByRole('cell').first().textContent()).toBe('1');
    }
    expect(await page.getByRole('link', { name: /Replay/ }).count()).toBe(0);
  });

  test('what is missing is counted by account and age, and leads to the runs and their recipients', async () => {
    await bookBilling(scene.opened.context, () => true);
    const visitor = await scene.visitor('read');
    await expect
      .poll(async () => (await visitor.get('/delivery-reports')).text)
      .toContain('3 recipients of the last seven days without');
    expect((await visitor.get('/delivery-reports/missing?account=sandbox')).text).toContain(
      `/runs/${run}/recipients?state=accepted"`,
    );
    const { text } = await visitor.get(`/runs/${run}/recipients?state=accepted`);
    expect([...text.matchAll(/>(\+61412\d+)</g)].map(([, found]) => found)).toEqual([1, 2, 3].map(address));
    const rest = (await visitor.get(`/runs/${run}/recipients?state=accepted&after=3-1`)).text;
    expect([...rest.matchAll(/>(\+61412\d+)</g)].map(([, found]) => found)).toEqual([address(3)]);
  });

  test('reports on requests that were never sent are counted by run, and no share contains them', async () => {
    const { ledger, context } = scene.opened;
    const unsent = await planContacts(ledger, aRun({ campaign: 'unsent', chunkSize: 1 }), [
      aContact(2),
      aContact(3),
    ]);
    await cancelRun(await ledger.queue(), ledger.pool, unsent, { reason: 'enough', now: new Date() });
    const { rows } = await ledger.pool.query<{ messageId: string; destination: string }>(
      'SELECT message_id AS "messageId", address AS destination FROM recipient_states WHERE run_id = $1',
      [unsent],
    );
    for (const row of rows) await sendDeliveryReport(scene.webhookUrl, row);
    await bookBilling(context, () => true);
    const visitor = await scene.visitor('read');
    await expect
      .poll(async () => {
        await bookBilling(context, () => true);
        return (await visitor.get('/delivery-reports')).text;
      })
      .toMatch(new RegExp(`2 recipients of the last 30 days[\\s\\S]*/runs/${unsent}"`));
    const { stdout } = await scene.command(['billing', 'report', '--run', unsent, '--columns', 'all']);
    expect(stdout).toMatch(/Reported, not sent/);
    const status = await scene.command(['status', unsent, '--json']);
    expect(JSON.parse(status.stdout)).toMatchObject({
      recipients: { total: 2, delivered: 0, cancelled: 2 },
      reportedUnsent: 2,
    });
    expect((await scene.command(['status', unsent])).stdout).toContain('reported, not sent');
    const page = (await visitor.get(`/runs/${unsent}`)).text;
    expect(page).toContain('; 2 recipients reported, not sent');
    expect(page).toContain('aria-label="2 cancelled"');
  });

  test('each list has the reason and leads to the recipient and the run', async () => {
    const visitor = await scene.visitor('read');
    const unreadable = (await visitor.get('/delivery-reports/list?state=unreadable')).text;
    expect(unreadable).toContain('JSON');
    const conflicting = (await visitor.get('/delivery-reports/list?state=conflicting')).text;
    expect(conflicting).toContain('Failed, Bad Number');
    expect(conflicting).toContain(`href="/runs/${run}"`);
    expect(conflicting).toContain('href="/recipients?q=%2B61412000000"');
    const none = await visitor.get('/delivery-reports/list?state=unmatched&address=%2B61412000000');
    expect(none.text).toContain('There are none');
    expect((await visitor.get('/delivery-reports/list?state=applied')).status).toBe(404);
  });

  test('a person sees the delivery reports of the accounts of their token only', async () => {
    const other = await scene.visitor('run', { accounts: ['other'] });
    const { text } = await other.get('/delivery-reports');
    for (const name of ['Conflicting', 'Unmatched', 'Unreadable'])
      expect(rowOf(text, name)).toContain('class="n">0<');
    expect((await other.get('/delivery-reports/list?state=unmatched')).text).toContain('There are none');
    expect((await other.get('/delivery-reports/missing?account=sandbox')).text).toContain('No run');
    expect((await other.get(`/runs/${run}/recipients?state=accepted`)).status).toBe(404);
    expect((await other.get(`/delivery-reports/missing/${run}/ask`)).status).toBe(404);
    const replay = (await other.get('/delivery-reports/replay')).text;
    expect(replay).toContain('No delivery report of other is unmatched');
    expect(replay).not.toContain('<button>Replay');
  });
});

describe('acting', () => {
  test('a person who may only read is refused', async () => {
    const reader = await scene.visitor('read');
    for (const path of ['/delivery-reports/replay', `/delivery-reports/missing/${run}/ask`])
      expect((await reader.get(path)).status).toBe(403);
    const list = (await reader.get(`/runs/${run}/recipients?state=accepted`)).text;
    expect(list).not.toContain('Ask the service');
  });

  test('a replay says how many it concerns, and what matches by then is applied', async () => {
    const { pool } = scene.opened.ledger;
    // As if it had arrived before its request was known.
    await pool.query(
      `UPDATE inbox_blocks SET bodies = ARRAY(SELECT convert_to(replace(convert_from(body, 'UTF8'), 'unknown-1', $1), 'UTF8') FROM unnest(bodies) AS body)
       WHERE convert_from(bodies[1], 'UTF8') LIKE '%unknown-1%'`,
      [messageIds[1]],
    );
    await pool.query(
      `UPDATE inbox_blocks SET bodies = ARRAY(SELECT convert_to(replace(convert_from(body, 'UTF8'), '+61412999999', $1), 'UTF8') FROM unnest(bodies) AS body)`,
      [address(1)],
    );
    const runner = await scene.visitor('run', { accounts: ['sandbox'] });
    const asked = (await runner.get('/delivery-reports/replay')).text;
    expect(asked).toContain('2 delivery reports</strong> of sandbox');
    expect(asked).toContain('1 unmatched, 1 unreadable, 0 failed');
    expect((await runner.send('/delivery-reports/replay', {})).status).toBe(303);
    await expect
      .poll(async () => rowOf((await runner.get('/delivery-reports')).text, 'Unmatched'))
      .toContain('class="n">0<');
    const [entry] = await listAudit(pool, { action: 'delivery reports replayed' }, 1);
    expect(entry).toMatchObject({ how: 'dashboard', details: { reports: 2 } });
  });

  test('the service is asked about what is missing, once at a time, and its answers are applied', async () => {
    const runner = await scene.visitor('run');
    const path = `/delivery-reports/missing/${run}/ask`;
    const form = hiddenFields((await runner.get(path)).text);
    const answers = await Promise.all([runner.post(path, form), runner.post(path, form)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 422]);
    await expect
      .poll(async () => (await runner.get(path)).text)
      .toContain('The service was asked. 2 requests looked up; 2 final delivery reports.');
    await expect
      .poll(async () => (await runner.get(`/runs/${run}/recipients?state=accepted`)).text)
      .toContain('There are none.');
  });

  test('a page that cannot read the ledger says so', async () => {
    const page = await scene.browse('/delivery-reports', { scope: 'run' });
    await page.getByRole('heading', { name: 'Arriving' }).waitFor();
    const { pool } = scene.opened.ledger;
    await pool.query('ALTER TABLE inbox_blocks RENAME TO hidden_blocks');
    await page.getByText('The database cannot be reached').waitFor();
    await pool.query('ALTER TABLE hidden_blocks RENAME TO inbox_blocks');
    await expect.poll(() => page.getByText('The database cannot be reached').count()).toBe(0);
  });
});

describe('in a browser', () => {
  test('a person replays by keyboard alone, without JavaScript', async () => {
    await sendDeliveryReport(scene.webhookUrl, { messageId: 'unknown-2', destination: '+61412999998' });
    await expect
      .poll(async () => (await (await scene.visitor('read')).get('/delivery-reports')).text)
      .toMatch(/Unmatched<\/a><\/th><td[^>]*>1</);
    const page = await scene.browse('/delivery-reports', { scope: 'run', javaScript: false });
    await page.getByRole('link', { name: /Replay unmatched/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Replay' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('will be read again.').waitFor();
  });

  test('hostile text of the service and of people is shown as text, and breaks no rule of WCAG', async () => {
    for (const text of hostileTexts) {
      await sendDeliveryReport(scene.webhookUrl, {
        messageId: text.slice(0, 300),
        destination: text.slice(0, 200),
        result: text,
      });
      await sendDeliveryReport(scene.webhookUrl, {
        messageId: messageIds[2] ?? '',
        destination: address(2),
        type: 'SMSReply',
        status: 'RECEIVED',
        result: 'RECEIVED',
        inbound: { receivedId: text.slice(0, 30), text },
      });
    }
    const visitor = await scene.visitor('read');
    await expect
      .poll(
        async () => (await visitor.get('/delivery-reports/list?state=inbound')).text.match(/<tr>/g)?.length,
      )
      .toBe(hostileTexts.length + 1);
    const page = await scene.browse('/delivery-reports', { width: 360 });
    for (const path of [
      '/delivery-reports',
      '/delivery-reports/list?state=inbound',
      '/delivery-reports/list?state=unmatched',
      '/delivery-reports/list?state=unreadable',
      '/delivery-reports/missing',
      `/runs/${run}/recipients?state=accepted`,
      '/delivery-reports/replay',
      `/recipients?q=${encodeURIComponent(address(2))}`,
    ]) {
      await page.goto(`${scene.url}${path}`);
      expect(await page.content(), path).not.toMatch(/<script>|<img|[\u202a-\u202e\u2066-\u2069]/);
      await expectAccessible(page);
    }
  });
});
