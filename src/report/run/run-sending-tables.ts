import type { Latency } from '../../ledger/counts/answers.ts';
import type { SendsInTime, SlowAttempt } from '../../ledger/runs/describe-sending.ts';
import { type Column, integerColumn, stateColumn, textColumn } from '../column.ts';
import { attemptEndColumns } from '../lists/run-results.ts';
import { messageIdColumn } from '../lists/usual.ts';
import { formatLocal, formatUnitStart } from '../time.ts';
import { createReportTable, type ReportTable } from './report-table.ts';
import type { RunDetails, TimelineEvent } from './run-details.ts';

/** A time in the zone of the report, which also a workbook has. */
export function localTimeColumn<Row>(
  title: string,
  timeZone: string,
  at: (row: Row) => Date | null,
): Column<Row> {
  return textColumn(title, `${title} (${timeZone})`, (row) => {
    const time = at(row);
    return time && formatLocal(time, timeZone);
  });
}

export function timelineTable({ timeline, timeZone }: RunDetails): ReportTable {
  return createReportTable<TimelineEvent>(
    'Timeline',
    'Timeline',
    [
      textColumn('what', 'Event'),
      localTimeColumn('At', timeZone, ({ at }) => at),
      textColumn('reason', 'Reason'),
    ],
    timeline,
  );
}

/** When requests were sent, how attempts ended, and how long they took. */
export function sendingTables({ sending, timeZone }: RunDetails): ReportTable[] {
  const { unit, sends, ends, answerTimes, slowest } = sending;
  return [
    createReportTable<SendsInTime>(
      'Sends',
      `Sends by ${unit} (${timeZone})`,
      [
        textColumn('at', `${unit[0]?.toUpperCase()}${unit.slice(1)}`, ({ at }) => formatUnitStart(unit, at)),
        integerColumn('requests', 'Requests'),
        integerColumn('recipients', 'Recipients'),
        integerColumn('retries', 'Retries'),
      ],
      sends,
    ),
    createReportTable('Attempts', 'How attempts ended', attemptEndColumns, ends),
    createReportTable<Latency>(
      'Answer times',
      'Answer times in milliseconds',
      [
        integerColumn('answered', 'Answered attempts'),
        integerColumn('median', 'Median'),
        integerColumn('p95', '95 % within'),
        integerColumn('p99', '99 % within'),
      ],
      answerTimes.answered === 0 ? [] : [answerTimes],
    ),
    createReportTable<SlowAttempt>(
      'Slowest requests',
      'Slowest requests',
      [
        messageIdColumn,
        integerColumn('attempt', 'Attempt'),
        localTimeColumn('Sent', timeZone, ({ startedAt }) => startedAt),
        integerColumn('milliseconds', 'Milliseconds'),
        integerColumn('httpStatus', 'HTTP'),
        stateColumn('verdict', 'Verdict'),
        stateColumn('state', 'State'),
      ],
      slowest,
    ),
  ];
}
