import { beforeAll, expect, test } from 'vitest';
import { bookBilling } from '../../../src/engine/billing/billing.ts';
import { listMissing } from '../../../src/ledger/delivery-reports/missing.ts';
import { type ListedRecipient, listRecipients } from '../../../src/ledger/runs/list-recipients.ts';
import { planReportableRun } from '../../support/reportable-run.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
let run: string;
beforeAll(async () => {
  run = await planReportableRun(opened.context);
});

type Named = { readonly messageId: string; readonly address: string | null };
const nameOf = ({ messageId, address }: Named): string => `${messageId} ${address}`;

async function pagesOf(limit: number): Promise<string[]> {
  const found: ListedRecipient[] = [];
  for (;;) {
    const wanted = { run, states: ['accepted'] } as const;
    const page = await listRecipients(opened.ledger.pool, wanted, { after: found.at(-1), limit });
    found.push(...page);
    if (page.length < limit) return found.map(nameOf);
  }
}

test('a recipient without a final delivery report is in the list of missing ones and in that of accepted ones, before and after it is booked', async () => {
  const all: string[] = [];
  const filter = { run, until: new Date('2100-01-01') };
  await listMissing(opened.ledger.pool, filter, undefined, (page) => void all.push(...page.map(nameOf)));
  expect(all.length).toBeGreaterThan(2);
  for (const limit of [1, 2, 3, 100]) expect((await pagesOf(limit)).toSorted()).toEqual(all.toSorted());
  await bookBilling(opened.context, () => true);
  for (const limit of [1, 2, 3, 100]) expect((await pagesOf(limit)).toSorted()).toEqual(all.toSorted());
});
