import { beforeAll, expect, test } from 'vitest';
import { bookBilling } from '../../../src/engine/billing/billing.ts';
import {
  listMissing,
  type MissingDeliveryReport,
  type MissingOfRun,
  pageMissingOfRun,
} from '../../../src/ledger/delivery-reports/missing.ts';
import { planReportableRun } from '../../support/reportable-run.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
let run: string;
beforeAll(async () => {
  run = await planReportableRun(opened.context);
});

const nameOf = ({ messageId, address }: MissingDeliveryReport): string => `${messageId} ${address}`;

async function pagesOf(limit: number): Promise<string[]> {
  const found: MissingOfRun[] = [];
  for (;;) {
    const page = await pageMissingOfRun(opened.ledger.pool, run, { after: found.at(-1), limit });
    found.push(...page);
    if (page.length < limit) return found.map(nameOf);
  }
}

test('pages have each missing delivery report of the run once, before and after it is booked', async () => {
  const all: string[] = [];
  const filter = { run, until: new Date('2100-01-01') };
  await listMissing(opened.ledger.pool, filter, undefined, (page) => void all.push(...page.map(nameOf)));
  expect(all.length).toBeGreaterThan(2);
  for (const limit of [1, 2, 3, 100]) expect((await pagesOf(limit)).toSorted()).toEqual(all.toSorted());
  await bookBilling(opened.context, () => true);
  for (const limit of [1, 2, 3, 100]) expect((await pagesOf(limit)).toSorted()).toEqual(all.toSorted());
});

test('a purged run misses none', async () => {
  await opened.ledger.pool.query('UPDATE runs SET purged_at = now() WHERE run_id = $1', [run]);
  expect(await pagesOf(10)).toEqual([]);
});
