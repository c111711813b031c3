import { column, createReportTable, type ReportTable } from './report-table.ts';
import type { RunDetails } from './run-details.ts';
import { formatLocal, formatUnitStart } from './time.ts';

export function timelineTable({ timeline, timeZone }: RunDetails): ReportTable {
  return createReportTable(
    'Timeline',
    'Timeline',
    [column('Event', 'text'), column(`At (${timeZone})`, 'text'), column('Reason', 'text')],
    timeline.map(({ what, at, reason }) => [what, formatLocal(at, timeZone), reason]),
  );
}

/** When requests were sent, how attempts ended, and how long they took. */
export function sendingTables({ sending, timeZone }: RunDetails): ReportTable[] {
  const { unit, sends, ends, answerTimes, slowest } = sending;
  const { answered, median, p95, p99 } = answerTimes;
  return [
    createReportTable(
      'Sends',
      `Sends by ${unit} (${timeZone})`,
      [
        column(`${unit[0]?.toUpperCase()}${unit.slice(1)}`, 'text'),
        ...['Requests', 'Recipients', 'Retries'].map((title) => column(title, 'integer')),
      ],
      sends.map(({ at, requests, recipients, retries }) => {
        return [formatUnitStart(unit, at), requests, recipients, retries];
      }),
    ),
    createReportTable(
      'Attempts',
      'How attempts ended',
      [column('Verdict', 'text'), column('HTTP', 'integer'), column('Attempts', 'integer')],
      ends.map(({ verdict, httpStatus, attempts }) => [verdict ?? 'in flight', httpStatus, attempts]),
    ),
    createReportTable(
      'Answer times',
      'Answer times in milliseconds',
      ['Answered attempts', 'Median', '95 % within', '99 % within'].map((title) => column(title, 'integer')),
      answered === 0 ? [] : [[answered, median, p95, p99]],
    ),
    createReportTable(
      'Slowest requests',
      'Slowest requests',
      [
        column('MessageID', 'text'),
        column('Attempt', 'integer'),
        column(`Sent (${timeZone})`, 'text'),
        column('Milliseconds', 'integer'),
        column('HTTP', 'integer'),
        column('Verdict', 'text'),
        column('State', 'text'),
      ],
      slowest.map(({ messageId, attempt, startedAt, milliseconds, httpStatus, verdict, state }) => {
        return [
          messageId,
          attempt,
          formatLocal(startedAt, timeZone),
          milliseconds,
          httpStatus,
          verdict,
          state,
        ];
      }),
    ),
  ];
}
