import { setImmediate } from 'node:timers/promises';
import type pg from 'pg';
import { inTransaction } from '../connection.ts';
import { applyDeliveries } from './deliveries.ts';
import { lookAgain, takeReports } from './inbox.ts';
import { type OptOut, suppressOptOuts } from './opt-outs.ts';
import { keepInbound, keepUnreadable } from './others.ts';
import type { InboxReport, Reading, ReadReport } from './reading.ts';
import { withdrawOutcomes } from './withdraw.ts';

/** A real report has a thousandth of a mebibyte. Bytes. */
const largeBody = 16 * 1024;

/**
 * Takes a batch of reports from the inbox, has them read, and applies them, in one transaction. Safe with several
 * appliers at once, again after a crash, and in any order.
 *
 * @param read pure: what the bytes of a report say
 * @returns how many were taken; 0 when nothing is due
 */
export async function applyReports(
  pool: pg.Pool,
  limit: number,
  read: (report: InboxReport) => Reading,
  now: Date,
): Promise<number> {
  return inTransaction(pool, async (client) => {
    const reports = await takeReports(client, limit, now);
    const readings: ReadReport[] = [];
    for (const report of reports) {
      readings.push({ ...report, ...read(report) });
      // Others in the process are not to wait for many of them.
      if (report.body.byteLength > largeBody) await setImmediate();
    }
    const others = readings.filter(({ kind }) => kind !== 'delivery');
    await withdrawOutcomes(
      client,
      others.map(({ report }) => report),
      now,
    );
    const unmatched = await applyDeliveries(client, readings.filter(isOf('delivery')), now);
    await keepInbound(client, readings.filter(isOf('inbound')));
    await keepUnreadable(client, readings.filter(isOf('unreadable')));
    await suppressOptOuts(
      client,
      readings.filter(({ report }) => !unmatched.has(report)).flatMap(optOutOf),
      now,
    );
    await lookAgain(
      client,
      reports.filter(({ report }) => unmatched.has(report)),
      now,
    );
    return reports.length;
  });
}

function isOf<Kind extends Reading['kind']>(kind: Kind) {
  return (reading: ReadReport): reading is ReadReport<Kind> => reading.kind === kind;
}

function optOutOf(reading: ReadReport): OptOut[] {
  const { report, kind } = reading;
  if (kind === 'unreadable' || !reading.optedOut) return [];
  return kind === 'inbound'
    ? [
        {
          report,
          source: 'reply',
          reason: `replied "${reading.text.trim()}"`,
          subAccount: reading.subAccount,
        },
      ]
    : [{ report, source: 'report', reason: reading.result ?? reading.status, subAccount: '' }];
}
