import fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeBilling } from '../../../src/cli/commands/billing-report.ts';
import { purge } from '../../../src/engine/billing/purge.ts';
import { billingDimensions } from '../../../src/ledger/billing/report.ts';
import { reportFormats, type Sheet } from '../../../src/report/formats/sheet.ts';
import { allBilling } from '../../support/billing.ts';
import { beginnings, steps } from '../../support/billing-steps.ts';
import { createWorld, performNextStep } from '../../support/billing-world.ts';
import { examples } from '../../support/examples.ts';
import { dumpOf, findTexts, withKey } from '../../support/purges.ts';
import { createAllRequestRows } from '../../support/request-rows.ts';
import { written } from '../../support/sheets.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

const limit = { before: new Date('2031-01-01T00:00:00Z'), alsoInDoubt: true };
const asOf = new Date('2031-01-02T00:00:00Z');
const groupings = fc.shuffledSubarray([...billingDimensions], { minLength: 1, maxLength: 4 });

/** Nothing is in flight and the inbox is empty, because a purge keeps runs with unread delivery reports. */
async function endAll(): Promise<void> {
  await createAllRequestRows(opened.ledger.pool);
  await opened.ledger.pool.query(`
    UPDATE requests SET state = 'in_doubt', owner = NULL WHERE state = 'sending';
    UPDATE requests SET state = 'cancelled' WHERE state = 'planned';
    DELETE FROM inbox_waiting;
    UPDATE slices SET state = 'done', job = NULL, worker = NULL, owner = NULL;
    UPDATE runs SET state = CASE state WHEN 'cancelled' THEN state ELSE 'completed' END, finished_at = '2030-01-01';
  `);
}

test('billing reports in all formats have the same bytes before and after a purge', async () => {
  let turn = 0;
  const property = fc.asyncProperty(beginnings, steps, groupings, async (begin, history, by) => {
    const world = await createWorld(opened.ledger, begin);
    await opened.ledger.pool.query('DELETE FROM hashed_suppressions');
    for (const step of history) await performNextStep(world, step);
    await endAll();
    // Pages and workbooks are slow, so each reports only some of the runs.
    const formats = ['json', reportFormats[turn++ % reportFormats.length] ?? 'csv'] as const;
    const query = { ...allBilling, by, timeZone: 'Pacific/Auckland' };
    const reports = async () => {
      const all: [string, string][] = [];
      for (const format of formats) {
        const write = async <Row>(sheet: Sheet<Row>): Promise<void> => {
          all.push([format, (await written(sheet, format)).toString('base64')]);
        };
        await writeBilling({ ...opened.context, now: () => asOf }, query, write);
      }
      return all;
    };
    const before = await reports();
    const { runs, held } = await purge(withKey(opened), limit, () => undefined);
    expect({ runs, held }).toEqual({ runs: world.runs.length, held: [] });
    expect(
      findTexts(await dumpOf(opened.ledger.pool), ['hello', '+614', '0400 00', 'of the service']),
    ).toEqual([]);
    expect(await reports()).toEqual(before);
    // Also when billing is rebuilt from what is left.
    await opened.ledger.pool.query('UPDATE billing_slices SET open = true');
    expect(await reports()).toEqual(before);
  });
  await fc.assert(property, examples(4));
});
