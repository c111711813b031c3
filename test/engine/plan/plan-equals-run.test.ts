import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RefusedRunError } from '../../../src/domain/problems.ts';
import type { PlanFacts } from '../../../src/engine/plan/plan-facts.ts';
import { planRun } from '../../../src/engine/plan/plan-run.ts';
import { prepareCampaign } from '../../../src/engine/plan/prepare-campaign.ts';
import { previewCampaign } from '../../../src/engine/plan/preview-campaign.ts';
import { requireSummary } from '../../../src/engine/runs/find-run.ts';
import type { Settings } from '../../../src/engine/settings.ts';
import { hashSuppressions } from '../../../src/ledger/purge/hash-suppressions.ts';
import { addSuppressions } from '../../../src/ledger/suppressions/add.ts';
import { deleteRuns } from '../../support/empty-ledger.ts';
import { examples } from '../../support/examples.ts';
import { openTestLedger, type TestLedger } from '../../support/ledger.ts';
import { hashKey, withKey } from '../../support/purges.ts';
import { rejectedContactsOf } from '../../support/rejected-contacts.ts';
import { accountsYaml, makeWorkspace, type Workspace } from '../../support/workspace.ts';

let opened: TestLedger;
let workspace: Workspace;
let settings: Settings;
beforeAll(async () => {
  opened = await openTestLedger();
  workspace = await makeWorkspace({
    'accounts.yaml': accountsYaml.replace(
      'authToken',
      'rates: [{ channel: sms, unit: part, price: 0.07, currency: NZD }]\n    authToken',
    ),
  });
  settings = {
    workingFolder: workspace.folder,
    environment: {
      VOLLEY_ACCOUNTS: 'accounts.yaml',
      VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9',
      VOLLEY_SANDBOX_TOKEN: 'x',
    },
  };
});
afterAll(async () => {
  await opened.close();
  await workspace[Symbol.asyncDispose]();
});

// Few values, so that contacts often collide.
const mobile = fc.constantFrom('0412000001', '0412000002', '+61412000003', '0412 000 001', '12', '');
const subAccount = fc.constantFrom('A', 'B', 'C', '');
const name = fc.constantFrom('Ann', 'Bob', '', '[[x', 'é'.repeat(200));
const rows = fc.array(fc.tuple(mobile, subAccount, name), { maxLength: 8 });
const suppression = fc.tuple(
  fc.constantFrom('+61412000001', '+61412000002', '+61412000003'),
  fc.constantFrom('', 'A', 'B'),
);

/** `contacts.key` and `contacts.duplicates`. */
const identity = fc.constantFrom(
  '',
  '',
  'key: sub, ',
  'key: [to, name], ',
  'duplicates: allow, ',
  'duplicates: refuse, ',
  'key: name, duplicates: allow, ',
);

function csv(lines: readonly (readonly string[])[], columns: readonly string[]): string {
  return `${columns.join(',')}\n${lines.map((line) => `${line.join(',')}\n`).join('')}`;
}

const resultOrRefusal = <Result>(work: Promise<Result>): Promise<Result | RefusedRunError> =>
  work.catch((error: unknown) => {
    if (error instanceof RefusedRunError) return error;
    throw error;
  });

async function writeCampaign({
  first,
  second,
  listed,
  chunkSize,
  same,
}: {
  readonly first: readonly [string, string, string][];
  readonly second: readonly [string, string, string][];
  readonly listed: readonly [string, string][];
  readonly chunkSize: number;
  readonly same: string;
}): Promise<void> {
  const turned = second.map(([to, sub, called]) => [called, to, sub]);
  await workspace.write('one.csv', csv(first, ['to', 'sub', 'name']));
  await workspace.write('two.csv', csv(turned, ['name', 'to', 'sub']));
  await workspace.write('stop.csv', csv(listed, ['Mobile', 'SubAccount']));
  await workspace.write(
    'campaign.yaml',
    `campaign: property
account: sandbox
channel: sms
contacts: { ${same}file: [one.csv, two.csv], country: AU, columns: { Recipient: to }, suppressions: [stop.csv], allowEmpty: true, maxInvalid: 100% }
message: { Message: "Hi [[name|there]]", SubAccount: "[[sub]]" }
dispatch: { chunkSize: ${chunkSize} }
`,
  );
}

test('a run has the rejections, requests, contents and SMS parts of its plan, and proves it by equal digests', async () => {
  await fc.assert(
    fc.asyncProperty(
      rows,
      rows,
      fc.array(suppression, { maxLength: 3 }),
      fc.array(suppression, { maxLength: 2 }),
      fc.integer({ min: 1, max: 3 }),
      fc.boolean(),
      identity,
      fc.constantFrom(undefined, 1, 3),
      async (first, second, suppressed, listed, chunkSize, hashed, same, limit) => {
        const { pool } = opened.ledger;
        await deleteRuns(pool);
        await pool.query('DELETE FROM envelopes; DELETE FROM suppressions; DELETE FROM hashed_suppressions');
        await addSuppressions(
          pool,
          suppressed.map(([address, own]) => ({
            channel: 'sms',
            address,
            subAccount: own,
            reason: '',
            source: 'operator',
            createdAt: new Date(),
          })),
        );
        if (hashed) await hashSuppressions(pool, hashKey, new Date(Date.now() + 1_000));
        await writeCampaign({ first, second, listed, chunkSize, same });
        const facts: PlanFacts[] = [];
        const onFacts = (found: PlanFacts): void => void facts.push(found);
        const limited = await prepareCampaign('campaign.yaml', settings, { limit });
        const preview = await resultOrRefusal(previewCampaign(limited, { ...withKey(opened), onFacts }));
        const prepared = await prepareCampaign('campaign.yaml', settings, { keeps: 'files', limit });
        const run = await resultOrRefusal(planRun(withKey(opened), prepared, { onFacts }));
        if (preview instanceof RefusedRunError || run instanceof RefusedRunError) {
          expect(run).toEqual(preview);
          return;
        }

        expect(facts[0]).toEqual(facts[1]);
        expect(await rejectedContactsOf(pool, run)).toEqual(preview.rejected);
        const { contacts, requests, recipients } = await requireSummary(opened.context, run);
        expect(contacts).toEqual(preview.contacts);
        expect([requests.total, recipients.total]).toEqual([preview.requests, preview.recipients]);
        const { rows: counted } = await pool.query(
          `SELECT (SELECT count(*)::integer FROM envelopes) AS envelopes,
                  (SELECT coalesce(sum(parts), 0)::integer FROM recipient_states) AS "smsParts"`,
        );
        expect(counted).toEqual([{ envelopes: preview.envelopes, smsParts: preview.smsParts }]);
      },
    ),
    examples(12),
  );
});
