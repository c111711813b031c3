import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { InputError } from '../../../src/domain/problems.ts';
import { sendNotification } from '../../../src/engine/notify/send-notification.ts';
import { requireSummary } from '../../../src/engine/runs/find-run.ts';
import { acquireNotification } from '../../../src/ledger/notifications/acquire.ts';
import { addSuppressions } from '../../../src/ledger/suppressions/add.ts';
import type { JournalLine } from '../../../src/sandbox/journal.ts';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { readJournal } from '../../support/journal.ts';
import { type NotifyScene, openNotifyScene } from '../../support/notify-scene.ts';

let scene: NotifyScene;
beforeAll(async () => {
  scene = await openNotifyScene();
});
afterAll(() => scene[Symbol.asyncDispose]());
beforeEach(async () => {
  await emptyLedger(scene.opened.ledger.pool);
});

const mail = `  - email: { to: [Ops@Example.org, billing@example.org], FromEmail: night@example.org, SubAccount: Ops }\n`;

async function completedRun(notify = mail): Promise<string> {
  const run = await scene.plan(notify);
  await scene.send(run);
  return run;
}

async function mailsOf(run: string): Promise<JournalLine[]> {
  const { rows } = await scene.opened.ledger.pool.query<{ message_id: string }>(
    'SELECT message_id FROM request_states WHERE run_id = $1',
    [run],
  );
  const journal = await readJournal(`${scene.workspace.folder}/journal.jsonl`);
  return journal.filter(({ messageId }) => rows.some(({ message_id }) => message_id === messageId));
}

const countRuns = async (): Promise<number> =>
  (await scene.opened.ledger.pool.query(`SELECT FROM runs WHERE campaign = 'test (summary)'`)).rowCount ?? 0;

async function suppress(...addresses: string[]): Promise<void> {
  const rest = { subAccount: '', reason: 'asked for it', source: 'operator', createdAt: new Date() } as const;
  await addSuppressions(
    scene.opened.ledger.pool,
    addresses.map((address) => ({ channel: 'email', address, ...rest })),
  );
}

test('the summary is one e-mail of a run of its own, which causes no further e-mail', async () => {
  const run = await completedRun();
  await scene.notifyAll();
  const mailRun = await scene.mailOf(run);
  await scene.send(mailRun);
  await scene.notifyAll();
  expect(await scene.notifications(run)).toMatchObject([
    { way: 'email', state: 'acknowledged', mailRun, mailState: 'completed' },
  ]);
  expect(await scene.notifications(mailRun)).toEqual([]);
  const mails = await mailsOf(mailRun);
  expect(mails).toMatchObject([
    { channel: 'email', status: 200, recipients: ['Ops@example.org', 'billing@example.org'] },
  ]);
  const { fields = {} } = mails[0]?.message ?? {};
  expect(fields).toMatchObject({
    EmailSubject: 'Campaign test: completed, 4 sent',
    FromEmail: 'night@example.org',
    SubAccount: 'Ops',
  });
  expect(fields['MessagePlain']).toContain(`Run ${run}  test  completed`);
  expect(fields['MessagePlain']).not.toMatch(/\+61|0412/);
  expect(await countRuns()).toBe(1);
});

test('a notification plans one e-mail, even if two processes acquired it', async () => {
  await completedRun();
  const { context, ledger } = scene.opened;
  const soon = new Date(Date.now() - 1);
  const first = await acquireNotification(ledger.pool, [], new Date(), soon);
  const second = await acquireNotification(ledger.pool, [], new Date(), soon);
  if (!first || !second) return expect.fail('nothing was due');
  const never = new AbortController().signal;
  expect(await sendNotification(context, first, scene.tools, never)).toEqual({ kind: 'superseded' });
  expect((await sendNotification(context, second, scene.tools, never)).kind).toBe('mailed');
  expect(await sendNotification(context, second, scene.tools, never)).toEqual({ kind: 'superseded' });
  expect(await countRuns()).toBe(1);
});

test('an e-mail run without a remaining recipient completes and counts the suppressed ones', async () => {
  await suppress('ops@example.org', 'billing@example.org');
  const run = await completedRun();
  await scene.notifyAll();
  expect(await requireSummary(scene.opened.context, await scene.mailOf(run))).toMatchObject({
    state: 'completed',
    contacts: { suppressed: 2 },
    requests: { total: 0 },
  });
});

test('an e-mail is left to another process if this one lacks the account', async () => {
  const run = await completedRun();
  const accountNamed = () =>
    Promise.reject(new InputError([{ where: 'accounts.yaml', what: 'no such account' }]));
  await scene.notifyAll({ accountNamed });
  expect(await scene.notifications(run)).toMatchObject([{ state: 'due', attempts: 0 }]);
});

test('a suppressed address gets no summary', async () => {
  await suppress('ops@example.org');
  const run = await completedRun();
  await scene.notifyAll();
  const mailRun = await scene.mailOf(run);
  await scene.send(mailRun);
  expect((await mailsOf(mailRun)).map(({ recipients }) => recipients)).toEqual([['billing@example.org']]);
});

test('quoted text in an e-mail forms no placeholder and no header', async () => {
  const run = await completedRun();
  const writeMail = () => ({ subject: 'a\r\nBcc: x@example.org', text: 'see [[File1]] and [[Reply]]' });
  await scene.notifyAll({ writeMail });
  const mailRun = await scene.mailOf(run);
  await scene.send(mailRun);
  expect((await mailsOf(mailRun))[0]?.message?.fields).toMatchObject({
    EmailSubject: 'a Bcc: x@example.org',
    MessagePlain: 'see [ [File1]] and [ [Reply]]',
  });
});

test('truncating an e-mail splits no surrogate pair', async () => {
  const run = await completedRun();
  const writeMail = () => ({ subject: `${'s'.repeat(199)}📧`, text: `${'t'.repeat(8_999)}📧` });
  await scene.notifyAll({ writeMail });
  const mailRun = await scene.mailOf(run);
  await scene.send(mailRun);
  expect((await mailsOf(mailRun))[0]?.message?.fields).toMatchObject({
    EmailSubject: 's'.repeat(199),
    MessagePlain: `${'t'.repeat(8_999)}\n…`,
  });
});

test('an e-mail that cannot be planned is retried with growing waits', async () => {
  const run = await completedRun();
  const writeMail = () => {
    throw new Error('no words');
  };
  const attempts: number[] = [];
  for (const minutes of [0, 1, 0, 1]) {
    await scene.passMinutes(minutes);
    await scene.notifyAll({ writeMail });
    attempts.push((await scene.notifications(run))[0]?.attempts ?? 0);
  }
  expect(attempts).toEqual([1, 2, 2, 3]);
});
