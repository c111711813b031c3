import { afterAll, beforeAll, expect, test } from 'vitest';
import { createToken } from '../../../src/engine/access/tokens.ts';
import { addAuditEntry } from '../../../src/ledger/audit/audit.ts';
import { bareTools, openBareDashboard } from '../../support/bare-dashboard.ts';
import { signIn, type Visitor } from '../../support/dashboard-scene.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
let dashboard: Awaited<ReturnType<typeof openBareDashboard>>;
let token: string;
let person: Visitor;
const runs = ['first-run', 'second-run', 'third-run'];
beforeAll(async () => {
  dashboard = await openBareDashboard(opened.context, { api: bareTools });
  const asked = { name: 'ann', scope: 'admin', owner: 'ann', accounts: null, expiresAt: null } as const;
  token = await createToken(opened.context, asked);
  person = await signIn(dashboard.address, token);
  await person.send('/zone', { zone: 'UTC' });
  for (const [index, run] of runs.entries()) {
    const createdAt = new Date(`2026-03-0${index + 1}T22:30:00Z`);
    const campaign = index === 2 ? 'offers' : 'reminders';
    await planContacts(opened.ledger, aRun({ run, campaign, createdAt }), [aContact(2)]);
    const actor = { name: `person ${index}`, via: 'cli', token: null } as const;
    const event = { action: 'run paused', run } as const;
    const outcome = index === 0 ? 'refused' : 'done';
    await addAuditEntry(opened.ledger.pool, actor, event, { outcome, at: createdAt });
  }
});
afterAll(async () => {
  await dashboard.close();
});

/** The runs that the API and the page name in their answers, which must be the same. */
async function found(api: string, page: string, query: string): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${dashboard.listener}/api/v1${api}?${query}`, { headers });
  const { text } = await person.get(`${page}?${query}`);
  const inPage = runs.filter((run) => text.includes(`href="/runs/${run}"`));
  const written = await answer.text();
  expect(runs.filter((run) => written.includes(run))).toEqual(inPage);
  return inPage;
}

test.each([
  ['q=second', ['second-run']],
  ['q=REMIND', ['first-run', 'second-run']],
  ['q=%25', []],
  ['kind=test', []],
  ['state=planned&channel=sms&account=sandbox', runs],
  ['campaign=offers', ['third-run']],
  ['from=2026-03-02&to=2026-03-02', ['second-run']],
  ['from=2026-03-02T22:30:00Z', ['second-run', 'third-run']],
  ['to=2026-03-02T22:30:00Z', ['first-run']],
  ['before=second-run', ['first-run']],
])('a list of runs is asked for %s in the API and on its page', async (query, expected) => {
  expect(await found('/runs', '/', query)).toEqual(expected);
});

test.each([
  ['who=person 1', ['second-run']],
  ['outcome=refused', ['first-run']],
  ['token=ann', []],
  ['action=run paused&until=2026-03-02', ['first-run', 'second-run']],
  ['since=2026-03-02T22:30:00Z', ['second-run', 'third-run']],
])('the audit trail is asked for %s in the API and on its page', async (query, expected) => {
  expect(await found('/audit', '/audit', query)).toEqual(expected);
});

test('a download that its page does not offer is not found', async () => {
  for (const path of ['/audit/download', '/billing/download', '/runs/first-run/download/run'])
    expect([path, (await person.get(`${path}?format=pdf`)).status]).toEqual([path, 404]);
});
