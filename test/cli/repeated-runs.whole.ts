import { writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createRequestRows } from '../support/request-rows.ts';
import { type SendPeer, type SendReply, sendPeer } from '../support/send-peer.ts';
import { testLedger } from '../support/test-ledger.ts';
import { type Ended, volleyInProcess } from '../support/volley.ts';
import {
  accountEnvironment,
  accountsYaml,
  contactsCsv,
  makeWorkspace,
  type Workspace,
} from '../support/workspace.ts';

const opened = testLedger();
let workspace: Workspace;
let service: SendPeer;
let reply: SendReply;
beforeEach(async () => {
  workspace = await makeWorkspace({
    'accounts.yaml': `${accountsYaml}${accountsYaml.replace('accounts:', '').replace('sandbox', 'other')}`,
    'contacts.csv': contactsCsv(3),
    'note.txt': 'all is well',
  });
  reply = { kind: 'accepted' };
  service = await sendPeer(() => reply);
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
  await workspace[Symbol.asyncDispose]();
});

const volley = (...words: string[]): Promise<Ended> =>
  volleyInProcess(words, {
    cwd: workspace.folder,
    env: { ...accountEnvironment(opened, service), VOLLEY_WEBHOOK_TOKEN: 'any' },
  });

/** Each test has its own campaign. */
const campaignOf = (name: string, more = ''): string => `campaign: ${name}
account: sandbox
channel: sms
contacts:
  file: contacts.csv
  country: AU
  columns: { Recipient: mobile }
message: { Message: "Hello [[name]]", ChargeCode: "[[code]]" }
${more}`;

const write = (name: string, more?: string): Promise<void> =>
  workspace.write('campaign.yaml', campaignOf(name, more));

async function run(...words: string[]): Promise<{ code: number | null; stderr: string; run: string }> {
  const { code, stdout, stderr } = await volley('run', 'campaign.yaml', '--json', ...words);
  return { code, stderr, run: stdout === '' ? '' : JSON.parse(stdout).run };
}

const sent = (): number => service.accepted().flatMap(({ recipients }) => recipients).length;

async function age(hours: number): Promise<void> {
  const { pool } = opened.ledger;
  await pool.query(`UPDATE run_states SET changed_at = changed_at - $1 * interval '1 hour'`, [hours]);
}

test('a repetition of the same campaign sends nothing, and its error names the first run and the ways to continue', async () => {
  await write('twice');
  const first = await run();
  expect([first.code, sent()]).toEqual([0, 3]);
  const plan = await volley('plan', 'campaign.yaml');
  expect([plan.code, plan.stdout]).toEqual([0, expect.stringContaining(`repeats     Run ${first.run} `)]);
  const second = await run();
  expect([second.code, second.run, sent()]).toEqual([2, '', 3]);
  expect(second.stderr).toContain(`campaign.yaml:1:11: Run ${first.run} has the same message`);
  expect(second.stderr).toContain('--again');
  expect(second.stderr).toContain(`volley status ${first.run}`);
  expect([(await run('--again')).code, sent()]).toEqual([0, 6]);
});

test('a run with a corrected text names the earlier run of the campaign that can still send', async () => {
  await write('corrected', 'approval: required\n');
  const { run: first } = await run();
  await workspace.write('campaign.yaml', campaignOf('corrected').replace('Hello', 'Good evening'));
  const warning = `Run ${first} of this campaign is planned (waits for approval: every run of the campaign) and can still send to its own recipients. \`volley cancel ${first}\` ends it.`;
  expect((await volley('plan', 'campaign.yaml')).stdout).toContain(`  unfinished  ${warning}`);
  expect(await run()).toMatchObject({ code: 0, stderr: expect.stringContaining(warning) });
  await volley('cancel', first);
  expect((await volley('plan', 'campaign.yaml')).stdout).not.toContain('unfinished');
});

test('of three runs that start at the same moment, one sends', async () => {
  await write('at-once');
  const ended = await Promise.all([run(), run(), run()]);
  expect(ended.map(({ code }) => code).toSorted()).toEqual([0, 2, 2]);
  const winner = ended.find(({ code }) => code === 0)?.run;
  for (const { code, stderr } of ended) if (code === 2) expect(stderr).toContain(`Run ${winner} `);
  expect(sent()).toBe(3);
});

test.each([
  ['allow', 0, 0],
  ['1h', 0.9, 2],
  ['1h', 1.1, 0],
  ['2d', 47, 2],
])('with dispatch.repeat: %s, a run %d hours later ends with exit code %d', async (repeat, hours, code) => {
  await write(`after-${repeat}-${code}`, `dispatch: { repeat: ${repeat} }\n`);
  await run();
  await age(hours);
  expect(await run()).toMatchObject({ code });
});

test.each(['never', '12', '-1h', '{}'])(
  'dispatch.repeat: %s is refused with the allowed values',
  async (repeat) => {
    await write('wrong', `dispatch: { repeat: ${repeat} }\n`);
    expect(await run()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('expected allow, or a duration such as 12h'),
    });
  },
);

describe('an earlier run', () => {
  test('an earlier run does not count if the service accepted nothing of it, and counts if it accepted a request', async () => {
    await write('rejected');
    reply = { kind: 'rejected', words: 'not now' };
    expect(await run()).toMatchObject({ code: 3 });
    reply = { kind: 'dropped' };
    expect(await run()).toMatchObject({ code: 3 });
    expect((await run()).stderr).toContain('is completed since');
  });

  test('an earlier run does not count if it was cancelled before it sent anything', async () => {
    await write('cancelled', 'approval: required\n');
    const { run: first } = await run();
    expect(await run()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`\`volley approve ${first}\`, then \`volley resume`),
    });
    await volley('cancel', first);
    expect(await run()).toMatchObject({ code: 4 });
  });

  test('an earlier run counts while it is paused, planned or running, and the error says how to resume it', async () => {
    await write('unfinished', 'approval: required\n');
    const { run: first } = await run();
    await opened.ledger.pool.query('DELETE FROM approvals WHERE run_id = $1', [first]);
    for (const state of ['planned', 'paused', 'running']) {
      await opened.ledger.pool.query('UPDATE runs SET state = $2 WHERE run_id = $1', [first, state]);
      const { code, stderr } = await run();
      expect([code, stderr]).toEqual([2, expect.stringMatching(`Run ${first} .* is ${state} `)]);
      expect(stderr).toContain(`\`volley resume ${first}\` continues it`);
    }
  });

  test('an earlier run counts at any age while workers send it, but not after a long wait for an operator', async () => {
    await write('old', 'approval: required\n');
    const { run: first } = await run();
    await age(13);
    expect(await run('--contacts', 'contacts.csv')).toMatchObject({ code: 4 });
    await age(13);
    await opened.ledger.pool.query(`UPDATE runs SET state = 'running' WHERE run_id = $1`, [first]);
    await age(13);
    expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining(first) });
  });

  test('a rerun of failed recipients is not a repetition of their run', async () => {
    await write('rerun');
    const { run: first } = await run();
    await createRequestRows(opened.ledger.pool, first);
    await opened.ledger.pool.query(`UPDATE requests SET state = 'failed' WHERE run_id = $1`, [first]);
    for (let times = 0; times < 2; times++)
      expect((await volley('rerun', first, '--state', 'failed')).code).toBe(times === 0 ? 0 : 2);
    expect(sent()).toBe(6);
  });
});

/** Quick: runs are only planned. */
const waits = 'approval: required\n';
const file = 'attachments: .\nfiles: [{ file: note.txt }]\n';

describe('the same message', () => {
  const rows = contactsCsv(3).trimEnd().split('\n');
  const [header = '', ...contacts] = rows;
  const contactsAre = (name: string, content: string) => async () => {
    await writeFile(`${workspace.folder}/${name}`, name.endsWith('.gz') ? gzipSync(content) : content);
    return ['--contacts', name];
  };
  const campaignIs = (change: (text: string) => string) => async () => {
    await workspace.write('campaign.yaml', change(await workspace.read('campaign.yaml')));
    return [];
  };

  test('a run is a repetition if its list differs only in order, name, compression, columns or speed', async () => {
    await write('same', `${waits}${file}`);
    expect(await run()).toMatchObject({ code: 4 });
    for (const change of [
      contactsAre('b.csv', [header, ...contacts.toReversed()].join('\n')),
      contactsAre('b.csv.gz', rows.join('\n')),
      contactsAre('b.csv', rows.map((row) => `${row.split(',').toReversed().join(';')};x`).join('\n')),
      contactsAre('b.csv', `${rows.join('\n')}\nnobody,Ann,C1\n`),
      campaignIs((text) => `${text}dispatch: { concurrency: 1, chunkSize: 7 }\n`),
    ])
      expect(await run(...(await change()))).toMatchObject({ code: 2 });
    expect((await volley('plan', 'campaign.yaml')).stdout).toContain('has the same message');
    await workspace.write('note.txt', 'another note');
    expect((await volley('plan', 'campaign.yaml')).stdout).not.toContain('has the same message');
  });

  test('a run is no repetition if a row, name, text, payer, attachment, account or campaign differs', async () => {
    await write('other', `${waits}${file}`);
    expect(await run()).toMatchObject({ code: 4 });
    for (const change of [
      contactsAre('b.csv', contactsCsv(4)),
      contactsAre('b.csv', rows.join('\n').replace('Name 1', 'Name 9')),
      campaignIs((text) => text.replace('Hello', 'Goodbye')),
      campaignIs((text) => text.replace('"[[code]]"', '"C7"')),
      async () => {
        await workspace.write('note.txt', 'all is lost');
        return [];
      },
      campaignIs((text) => text.replace('account: sandbox', 'account: other')),
      campaignIs((text) => text.replace('campaign: other', 'campaign: another')),
    ])
      expect(await run(...(await change()))).toMatchObject({ code: 4 });
  });

  test('a run is a repetition if a recipient was suppressed in between', async () => {
    await write('stopped', waits);
    expect(await run()).toMatchObject({ code: 4 });
    await volley('suppress', 'add', '+61412000001', '--channel', 'sms');
    expect(await run()).toMatchObject({ code: 2 });
    await volley('suppress', 'remove', '+61412000001', '--channel', 'sms');
  });
});
