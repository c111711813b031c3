import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { approveRun } from '../../../src/engine/plan/approve-run.ts';
import { type BroughtList, matchList } from '../../../src/engine/plan/brought-list.ts';
import { planRun } from '../../../src/engine/plan/plan-run.ts';
import { prepareCampaign } from '../../../src/engine/plan/prepare-campaign.ts';
import { previewCampaign } from '../../../src/engine/plan/preview-campaign.ts';
import { planRerun } from '../../../src/engine/plan/rerun.ts';
import { reportPerson } from '../../../src/engine/recipient-data/person-report.ts';
import { reportContacts } from '../../../src/engine/reporting/contact-report.ts';
import type { Settings } from '../../../src/engine/settings.ts';
import { listAudit } from '../../../src/ledger/audit/audit.ts';
import { digestOf } from '../../../src/platform/digest.ts';
import { contactSheet, reportedStates } from '../../../src/report/run/contact-sheet.ts';
import { anAccount } from '../../support/account.ts';
import { claimRequests, settleRequests } from '../../support/claims.ts';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { rejectedContactsOf } from '../../support/rejected-contacts.ts';
import { written } from '../../support/sheets.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';
import { number, sheetData, workbookOf } from '../../support/workbooks.ts';
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

const campaign = `campaign: night
account: sandbox
channel: sms
contacts: { file: "inbox/*.csv", encoding: utf-16le, skipLines: 3, country: AU, columns: { Recipient: Phone }, where: { Status: active } }
message: { Message: "Hi [[First Name]]", ChargeCode: "[[Cost centre]]" }
`;

/** A list as an upload is kept: under another name than the person gave it. */
async function bring(
  content: string | Uint8Array,
  { name = 'members.csv', columns, reading = { skipLines: 0 } }: Partial<BroughtList> = {},
): Promise<BroughtList> {
  await workspace.write('campaign.yaml', campaign);
  const path = join(workspace.folder, 'kept-upload');
  await writeFile(path, content);
  const list = { name, path, reading };
  return { ...list, columns: columns ?? (await matchList('campaign.yaml', settings, list)).columns };
}

const prepare = (list: BroughtList) => prepareCampaign('campaign.yaml', settings, { list, keeps: 'files' });
const plan = async (list: BroughtList, again = false) =>
  planRun(opened.context, await prepare(list), { again });

const members = `Mobile,given name,cost_centre,Status,Note
0412000001,Ann,A,active,first
12,Bob,A,active,
0412000003,Cy,B,gone,
0412000004,Di,B,active,
`;

async function resultOf(run: string): Promise<string> {
  return reportContacts(opened.context, run, async (report) => {
    const sheet = contactSheet(run, report, new Set(reportedStates));
    return (await written(sheet, 'csv')).toString();
  });
}

test('a list with other column names is sent instead of the campaign’s own files, and kept with its run', async () => {
  const list = await bring(members);
  expect(list.columns).toEqual({
    Phone: 'Mobile',
    'First Name': 'given name',
    'Cost centre': 'cost_centre',
    Status: 'Status',
  });
  const run = await plan(list);
  await writeFile(list.path, 'gone');
  const rejected = await rejectedContactsOf(opened.ledger.pool, run);
  expect(rejected.map(({ file, line, column, detail }) => `${file}:${line} ${column}: ${detail}`)).toEqual([
    'members.csv:3 Phone: "12" is not a number in use in AU',
  ]);
  const lines = (await resultOf(run)).split('\n').map((line) => line.split(',').slice(0, 8).join());
  expect(lines).toEqual([
    'Phone,First Name,Cost centre,Status,Note,Volley Run,Volley Line,Volley State',
    `0412000001,Ann,A,active,first,${run},2,pending`,
    `12,Bob,A,active,,${run},3,invalid`,
    `0412000003,Cy,B,gone,,${run},4,filtered`,
    `0412000004,Di,B,active,,${run},5,pending`,
    '',
  ]);
  const person = await reportPerson(opened.context, '+61412000004');
  expect(person.contactRows).toMatchObject([
    { run, file: 'members.csv', line: 5, values: { Phone: '0412000004' } },
  ]);
});

test('the audit trail says which list was brought for which run, and the campaign file stays as it is', async () => {
  const run = await plan(await bring(members, { name: 'members of ann@example.com.csv' }));
  const [planned] = await listAudit(opened.ledger.pool, { run, action: 'run planned' }, 1);
  expect(planned?.details).toMatchObject({
    campaign: 'night',
    file: 'campaign.yaml',
    list: 'members of ***',
    bytes: Buffer.byteLength(members),
    sha256: digestOf(members).toString('hex'),
  });
  expect(JSON.stringify(planned)).not.toContain('ann@example.com');
  expect(await workspace.read('campaign.yaml')).toBe(campaign);
});

test('the audit trail has no digest of a list of which a test has read only the beginning', async () => {
  const list = await bring(members + '0412000005,Eve,B,active,later\n'.repeat(100_000));
  const prepared = await prepareCampaign('campaign.yaml', settings, {
    list,
    testTo: ['0498765432'],
    keeps: 'files',
  });
  const run = await planRun(opened.context, prepared);
  const [planned] = await listAudit(opened.ledger.pool, { run, action: 'run planned' }, 1);
  expect(planned?.details).toEqual({
    campaign: 'night',
    file: 'campaign.yaml',
    list: 'members.csv',
    test: 1,
  });
});

test('a list that is brought twice is a repetition, also with other names and as a workbook', async () => {
  const run = await plan(await bring(members));
  const again = await bring(members.replace('Mobile', 'Phone'), { name: 'other.csv' });
  const preview = await previewCampaign(await prepare(again), opened.context);
  expect(preview.repeats).toContain(run);
  const rows = members
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  const workbook = await bring(await workbookOf(sheetData(...rows)), { name: 'members.xlsx' });
  expect(await problemsRejected(() => plan(workbook))).toEqual([expect.stringContaining(run)]);
});

test('a workbook keeps what its cells are, under the names of the campaign', async () => {
  const sheet = sheetData(
    ['Title'],
    ['Mobile', 'First name', 'Cost centre', 'Status'],
    [number(412_000_001), 'Ann', 'A', 'active'],
    ['0412000002', '=1+1', 'A', 'active'],
  );
  const other = sheetData(['Phone'], ['0412000009']);
  const data = await workbookOf({
    sheets: [
      { name: 'Other', data: other },
      { name: 'Members', data: sheet },
    ],
  });
  const list = await bring(data, { name: 'm.xlsx', reading: { skipLines: 1, sheet: 'Members' } });
  const run = await plan(list);
  await writeFile(list.path, 'gone');
  expect(await rejectedContactsOf(opened.ledger.pool, run)).toEqual([]);
  expect(await resultOf(run)).toContain(`0412000002,'=1+1,A,active,${run},`);
});

test('a list that lacks a column is refused with the name of that column', async () => {
  const list = await bring('Mobile,Status\n0412000001,active\n');
  expect(list.columns).toEqual({ Phone: 'Mobile', Status: 'Status' });
  expect((await problemsRejected(() => prepare(list))).join('\n')).toMatch(
    /Unknown placeholder \[\[First Name\]\]/,
  );
});

test('a run to a list is approved whatever file has its name', async () => {
  const list = await bring(members);
  await workspace.write('campaign.yaml', `${campaign}approval: required\n`);
  await workspace.write('members.csv', 'another file');
  const run = await plan(list);
  const approver = { ...opened.context, actor: { ...opened.context.actor, name: 'bea' } };
  expect(await approveRun(approver, run)).toMatchObject({ approvedBy: 'bea' });
});

test('recipients of a list get their messages again when the list is gone', async () => {
  const list = await bring(members);
  const run = await plan(list);
  await writeFile(list.path, 'gone');
  const { pool } = opened.ledger;
  const owner = '00000000-0000-4000-8000-000000000001';
  await claimRequests(pool, { run, owner, limit: 2, now: new Date() });
  const outcome = { attempt: 1, finishedAt: new Date(), httpStatus: null, detail: null };
  await settleRequests(pool, run, owner, [
    { ...outcome, request: 1, state: 'accepted' },
    { ...outcome, request: 2, state: 'failed' },
  ]);
  const again = await planRerun(opened.context, { of: run, states: ['failed'], account: anAccount() });
  const result = await resultOf(again);
  expect(result).toMatch(/^Phone,First Name,/);
  expect(result).toContain(`0412000004,Di,B,active,,${again},5,pending`);
});
