import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import { planRun } from '../../../src/engine/plan/plan-run.ts';
import { prepareCampaign } from '../../../src/engine/plan/prepare-campaign.ts';
import { previewCampaign } from '../../../src/engine/plan/preview-campaign.ts';
import { planRerun } from '../../../src/engine/plan/rerun.ts';
import { reportContacts } from '../../../src/engine/reporting/contact-report.ts';
import { requireSummary } from '../../../src/engine/runs/find-run.ts';
import type { Settings } from '../../../src/engine/settings.ts';
import { addSuppressions } from '../../../src/ledger/suppressions/add.ts';
import { contactSheet, type ReportedState, reportedStates } from '../../../src/report/run/contact-sheet.ts';
import { anAccount } from '../../support/account.ts';
import { claimRequests, settleRequests } from '../../support/claims.ts';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { addressesOf } from '../../support/outgoing.ts';
import { rejectedContactsOf } from '../../support/rejected-contacts.ts';
import { createAllRequestRows } from '../../support/request-rows.ts';
import { written } from '../../support/sheets.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';
import { accountsYaml, makeWorkspace, settingsIn, type Workspace } from '../../support/workspace.ts';

const opened = testLedger();
let workspace: Workspace;
let settings: Settings;
beforeEach(async () => {
  workspace = await makeWorkspace({ 'accounts.yaml': accountsYaml });
  settings = settingsIn(workspace);
  await emptyLedger(opened.ledger.pool);
  return () => workspace[Symbol.asyncDispose]();
});

const owner = '00000000-0000-4000-8000-000000000001';

/** @param contacts keys of `contacts` */
async function writeCampaign(contacts: string, more = ''): Promise<void> {
  await workspace.write(
    'campaign.yaml',
    `campaign: ${'night'}
account: sandbox
channel: sms
contacts: { country: AU, ${contacts} }
message: { Message: "Hi [[name]]", SubAccount: "[[code]]" }
${more}`,
  );
}

async function plan(): Promise<string> {
  const prepared = await prepareCampaign('campaign.yaml', settings, { keeps: 'files' });
  return planRun(opened.context, prepared, { again: true });
}

/** Rejected lines with their reasons. Plan and run must agree. */
async function listRejected(): Promise<string[]> {
  const rejected = await rejectedContactsOf(opened.ledger.pool, await plan());
  return rejected.map(({ file, line, reason, detail }) => `${file}:${line} ${reason}: ${detail}`);
}

async function accept(run: string, requests: number): Promise<void> {
  const { pool } = opened.ledger;
  await claimRequests(pool, { run, owner, limit: requests, now: new Date() });
  const outcome = {
    attempt: 1,
    finishedAt: new Date(),
    httpStatus: 200,
    detail: null,
    state: 'accepted',
  } as const;
  await settleRequests(
    pool,
    run,
    owner,
    Array.from({ length: requests }, (_, index) => ({ ...outcome, request: index + 1 })),
  );
}

const suppress = (address: string, subAccount = '', account = '') =>
  addSuppressions(opened.ledger.pool, [
    {
      channel: 'sms',
      address,
      account,
      subAccount,
      reason: 'asked',
      source: 'operator',
      createdAt: new Date(),
    },
  ]);

describe('suppressed addresses', () => {
  const contacts = 'to,name,code\n0412000001,Ann,A\n0412000002,Bob,A\n0412000001,Ann,B\n0412000003,Cy,A\n';

  test('a suppressed address is rejected with the reason', async () => {
    await workspace.write('contacts.csv', contacts);
    await writeCampaign('file: contacts.csv, columns: { Recipient: to }');
    await suppress('+61412000002');
    expect(await listRejected()).toEqual([
      'contacts.csv:3 suppressed: suppressed for sms: asked',
      'contacts.csv:4 duplicate: same address as line 2, but its message differs',
    ]);
  });

  test('a suppression of one SubAccount applies to its messages only, and the address is no duplicate in another', async () => {
    await workspace.write('contacts.csv', contacts);
    await writeCampaign('file: contacts.csv, columns: { Recipient: to }');
    await suppress('+61412000001', 'A');
    expect(await listRejected()).toEqual([
      'contacts.csv:2 suppressed: suppressed for sms of SubAccount A: asked',
    ]);
  });

  test('a suppression of one account applies to its runs and to accounts that share its suppressions', async () => {
    await workspace.write('contacts.csv', contacts);
    const columns = 'Channel,Address,Account,SubAccount,Source,Since (UTC),Reason';
    const rows = ['+61412000001,other', '+61412000003,main'].map((row) => `sms,${row},,operator,,`);
    await workspace.write('stop.csv', `${[columns, ...rows].join('\n')}\n`);
    await writeCampaign('file: contacts.csv, columns: { Recipient: to }, suppressions: [stop.csv]');
    await suppress('+61412000001', '', 'other');
    await suppress('+61412000002', '', 'main');
    const own = await listRejected();
    expect(own).toEqual(['contacts.csv:4 duplicate: same address as line 2, but its message differs']);
    const other = accountsYaml.replace(/ {2}sandbox:/, '  main:').replace('accounts:\n', '');
    const shared = accountsYaml.replace('  sandbox:', '  sandbox:\n    suppressionsOf: main');
    await workspace.write('accounts.yaml', `${shared}${other}`);
    expect(await listRejected()).toEqual([
      'contacts.csv:3 suppressed: suppressed for sms: asked',
      own[0],
      'contacts.csv:5 suppressed: listed in stop.csv:3',
    ]);
    // Claims apply it, too.
    const { rows: runs } = await opened.ledger.pool.query(
      'SELECT suppression_account FROM runs ORDER BY created_at',
    );
    expect(runs.map((run) => run.suppression_account)).toEqual(['sandbox', 'main']);
  });

  test('a reply to a run of an account that shares its suppressions says neither its words nor its run', async () => {
    await workspace.write('contacts.csv', contacts);
    const main = accountsYaml.replace(/ {2}sandbox:/, '  main:').replace('accounts:\n', '');
    const shared = accountsYaml.replace('  sandbox:', '  sandbox:\n    suppressionsOf: main');
    await workspace.write('accounts.yaml', `${shared}${main}`);
    await writeCampaign('file: contacts.csv, columns: { Recipient: to }');
    const suppressIn = async (run: string, address: string): Promise<void> => {
      await opened.ledger.pool.query(
        `INSERT INTO suppressions (channel, address, account, reason, run_id, source, created_at)
         VALUES ('sms', $2, 'main', 'stop it', $1, 'reply', now())`,
        [run, address],
      );
    };
    const own = await plan();
    await suppressIn(own, '+61412000002');
    const campaign = (await workspace.read('campaign.yaml')).replace('account: sandbox', 'account: main');
    await workspace.write('campaign.yaml', campaign);
    await suppressIn(await plan(), '+61412000003');
    await workspace.write('campaign.yaml', campaign.replace('account: main', 'account: sandbox'));
    expect((await listRejected()).filter((each) => each.includes('suppressed'))).toEqual([
      `contacts.csv:3 suppressed: suppressed for sms: replied "stop it" (run ${own})`,
      'contacts.csv:5 suppressed: suppressed for sms',
    ]);
  });

  test('an address in a suppression file is rejected with its line there, and lines without an address are reported', async () => {
    await workspace.write('contacts.csv', contacts);
    await workspace.write('stop.csv', 'Mobile,SubAccount\n0412000003,\nrubbish,\n0412000001,B\n');
    await writeCampaign('file: contacts.csv, columns: { Recipient: to }, suppressions: [stop.csv]');
    expect(await listRejected()).toEqual([
      'contacts.csv:4 suppressed: listed in stop.csv:4',
      'contacts.csv:5 suppressed: listed in stop.csv:2',
    ]);
    const { unreadableSuppressions } = await previewCampaign(
      await prepareCampaign('campaign.yaml', settings),
      opened.context,
    );
    expect(unreadableSuppressions).toEqual({
      lines: 1,
      problems: [{ where: 'stop.csv:3', what: '"rubbish" is not a phone number' }],
    });
  });
});

test('case does not matter in suppressed e-mail addresses, and messages go to the address as written', async () => {
  await workspace.write(
    'contacts.csv',
    'email\nAnn@Example.org\nann@example.org\nBOB@example.org\nCy@example.org\n',
  );
  await workspace.write('stop.csv', 'email\nbob@EXAMPLE.org\n');
  await workspace.write(
    'campaign.yaml',
    `campaign: night
account: sandbox
channel: email
contacts: { file: contacts.csv, suppressions: [stop.csv], notWithin: 7d, allowEmpty: true }
message: { EmailSubject: x, FromEmail: a@example.org, MessagePlain: Hello }
`,
  );
  expect(await listRejected()).toEqual([
    'contacts.csv:3 duplicate: same address as line 2',
    'contacts.csv:4 suppressed: listed in stop.csv:2',
  ]);
  const run = await plan();
  const { claimed } = await claimRequests(opened.ledger.pool, { run, owner, limit: 1, now: new Date() });
  expect(claimed.flatMap(({ destinations }) => addressesOf(destinations))).toEqual([
    'Ann@example.org',
    'Cy@example.org',
  ]);
  await workspace.write('contacts.csv', 'email\nANN@example.org\n');
  expect(await listRejected()).toEqual([`contacts.csv:2 suppressed: reached within 7d, by run ${run}`]);
});

describe('contacts.notWithin', () => {
  const contacts = 'to,name,code\n0412000001,Ann,A\n0412000002,Bob,A\n';
  const withNotWithin = (by: string) =>
    writeCampaign(
      `file: contacts.csv, columns: { Recipient: to }, notWithin: { time: 7d, by: ${by} }, allowEmpty: true`,
    );

  test('an address sent to within that time is rejected and its run named', async () => {
    await workspace.write('contacts.csv', contacts.replace('0412000002', '0412000009'));
    await withNotWithin('campaign');
    const first = await plan();
    await accept(first, 1);
    await workspace.write('contacts.csv', contacts);
    expect(await listRejected()).toEqual([`contacts.csv:2 suppressed: reached within 7d, by run ${first}`]);
    // Operators of one account must not see runs of others.
    await opened.ledger.pool.query(`UPDATE runs SET account = 'another' WHERE run_id = $1`, [first]);
    const unnamed = ['contacts.csv:2 suppressed: reached within 7d, by a run of another account'];
    expect(await listRejected()).toEqual(unnamed);
    const another = accountsYaml.replace(/ {2}sandbox:/, '  another:').replace('accounts:\n', '');
    const shared = accountsYaml.replace('  sandbox:', '  sandbox:\n    suppressionsOf: another');
    await workspace.write('accounts.yaml', `${shared}${another}`);
    expect(await listRejected()).toEqual(unnamed);
  });

  test('an address is sent to when it was only planned, sent to earlier, or by another campaign', async () => {
    await workspace.write('contacts.csv', contacts);
    await withNotWithin('campaign');
    await plan();
    expect(await listRejected()).toEqual([]);
    const { pool } = opened.ledger;
    const other = await plan();
    await accept(other, 1);
    await pool.query("UPDATE runs SET campaign = 'other' WHERE run_id = $1", [other]);
    expect(await listRejected()).toEqual([]);
    await withNotWithin('any');
    expect(await listRejected()).toHaveLength(2);
    await createAllRequestRows(pool);
    await pool.query("UPDATE requests SET updated_at = now() - interval '8 days'");
    expect(await listRejected()).toEqual([]);
  });
});

test('a run that would exceed its budget is not planned', async () => {
  await workspace.write('contacts.csv', 'to,name,code\n0412000001,Ann,A\n0412000002,Bob,A\n');
  await workspace.write(
    'accounts.yaml',
    accountsYaml.replace(
      'authToken',
      'rates: [{ channel: sms, unit: part, price: 0.1, currency: NZD }]\n    authToken',
    ),
  );
  await writeCampaign('file: contacts.csv, columns: { Recipient: to }', 'budget: { campaign: 0.19 }');
  expect(await problemsRejected(plan)).toEqual([
    'campaign.yaml:6:21: The budget of the campaign is 0.19 NZD; this plan would cost 0.20 NZD.',
  ]);
  expect((await opened.ledger.pool.query('SELECT FROM runs')).rowCount).toBe(0);
});

test('an invalid ChargeCode of a contact stops planning and is reported with its line', async () => {
  await workspace.write('contacts.csv', 'to,name,code\n0412000001,Ann,A\n0412000002,Bob,X\n');
  await workspace.write('codes.txt', 'A\nB\n');
  await writeCampaign('file: contacts.csv, columns: { Recipient: to }', 'chargeCodes: codes.txt');
  await workspace.write(
    'campaign.yaml',
    `campaign: night
account: sandbox
channel: sms
contacts: { country: AU, file: contacts.csv, columns: { Recipient: to } }
message: { Message: Hello, ChargeCode: "[[code]]" }
chargeCodes: codes.txt
`,
  );
  expect(await problemsRejected(plan)).toEqual([
    expect.stringMatching(/^contacts.csv:3: ChargeCode "X" is not in codes.txt/),
  ]);
  expect((await opened.ledger.pool.query('SELECT FROM runs')).rowCount).toBe(0);
});

describe('the result file', () => {
  const one =
    'Mobile;name;code\r\n0412 000 001;"Ann; A";A\r\n12;Bad;A\r\n0412000003;Cy;C\r\n0412000001;Ann;A\r\n"x\r\n';
  const two = 'code,Mobile,name,Volley State\nA,0412000002,"two\nlines",old\nA,0412000004,Di,\n';

  async function planned(): Promise<string> {
    await workspace.write('one.csv', one);
    await workspace.write('two.csv', '');
    const { writeFile } = await import('node:fs/promises');
    await writeFile(`${workspace.folder}/two.csv`, gzipSync(two));
    await writeCampaign(
      'file: [one.csv, two.csv], columns: { Recipient: Mobile }, where: [{ column: code, equals: A }]',
      'dispatch: { chunkSize: 1 }',
    );
    return plan();
  }

  async function resultOf(run: string, states: readonly ReportedState[] = reportedStates): Promise<string> {
    return reportContacts(opened.context, run, async (report) => {
      const sheet = contactSheet(run, report, new Set(states));
      return (await written(sheet, 'csv')).toString();
    });
  }

  test('the result file has every original row in order, with its result', async () => {
    const run = await planned();
    await accept(run, 1);
    // The kept copies are used from here on.
    await workspace.write('one.csv', 'removed');
    await workspace.write('two.csv', 'removed');
    const { rows } = await opened.ledger.pool.query(
      'SELECT message_id FROM request_states WHERE run_id = $1 ORDER BY request',
      [run],
    );
    const [first, second, third] = rows.map(({ message_id }) => message_id);
    expect(await resultOf(run)).toBe(
      [
        'Mobile;name;code;Volley Run;Volley File;Volley Line;Volley State;Volley Column;Volley Reason;Volley Address;Volley MessageID;Volley Units;Volley Price;Volley Row',
        `0412 000 001;"Ann; A";A;${run};one.csv;2;accepted;;;+61412000001;${first};1;;`,
        `12;Bad;A;${run};one.csv;3;invalid;Mobile;"""12"" is not a number in use in AU";;;;;`,
        `0412000003;Cy;C;${run};one.csv;4;filtered;;;;;;;`,
        `0412000001;Ann;A;${run};one.csv;5;duplicate;Mobile;same address as one.csv:2, but its message differs;;;;;`,
        `;;;${run};one.csv;6;invalid;;"value 1: a quote ("") opens and is never closed";;;;;"""x"`,
        `0412000002;"two\nlines";A;${run};two.csv;2;pending;;;+61412000002;${second};1;;`,
        `0412000004;Di;A;${run};two.csv;4;pending;;;+61412000004;${third};1;;`,
        '',
      ].join('\n'),
    );
  });

  test('rejected contacts can be fixed in the result file and run again', async () => {
    const run = await planned();
    const rejected = await resultOf(run, ['invalid', 'duplicate', 'suppressed']);
    expect(rejected.split('\n').map((line) => line.split(';')[0])).toEqual([
      'Mobile',
      '12',
      '0412000001',
      '',
      '',
    ]);
    await workspace.write('fixed.csv', rejected.replace('12;Bad', '0412000012;Good'));
    const options = { keeps: 'files' as const, contactFiles: ['fixed.csv'] };
    const prepared = await prepareCampaign('campaign.yaml', settings, options);
    const again = await planRun(opened.context, prepared, { again: true });
    expect((await requireSummary(opened.context, again)).recipients.total).toBe(1);
    const result = await resultOf(again);
    expect(result).toContain(`0412000012;Good;A;${again};2;pending;`);
    expect(result).toContain(`to be reached by run ${run}`);
  });

  test('the result file of a rerun has only the rows of that run, from the first run’s files', async () => {
    const run = await planned();
    const { pool } = opened.ledger;
    await claimRequests(pool, { run, owner, limit: 3, now: new Date() });
    const outcome = { attempt: 1, finishedAt: new Date(), httpStatus: null, detail: null };
    await settleRequests(pool, run, owner, [
      { ...outcome, request: 1, state: 'accepted' },
      { ...outcome, request: 2, state: 'failed' },
      { ...outcome, request: 3, state: 'failed' },
    ]);
    const again = await planRerun(opened.context, { of: run, states: ['failed'], account: anAccount() });
    const twice = await (async () => {
      await claimRequests(pool, { run: again, owner, limit: 1, now: new Date() });
      await settleRequests(pool, again, owner, [{ ...outcome, request: 1, state: 'failed' }]);
      return planRerun(opened.context, { of: again, states: ['failed'], account: anAccount() });
    })();
    const lines = (text: string) => text.split('\n').filter((line) => line.includes('two.csv'));
    expect(lines(await resultOf(again)).length).toBe(2);
    expect((await resultOf(again)).split('\n').length).toBe(5);
    expect(await resultOf(twice)).toContain('two.csv;2;pending');
  });

  test('a run without kept files is refused with an alternative', async () => {
    const run = await planned();
    await opened.ledger.pool.query(
      `DELETE FROM contact_file_pieces WHERE run_id = '${run}'; DELETE FROM contact_files WHERE run_id = '${run}'`,
    );
    expect(await problemsRejected(() => resultOf(run))).toEqual([
      `run ${run}: This run has no kept contact files: an earlier version of Volley planned it. \`volley report run\` lists its rejected contacts.`,
    ]);
  });
});
