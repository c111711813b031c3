import type { AsOf } from '../../domain/replica.ts';
import type { RunReportFormat } from '../formats/sheet.ts';
import { formatLines } from '../formats/table.ts';
import { printable } from '../printable.ts';
import { plainScreen, type Screen, styled } from '../screen.ts';
import { asOfFields, formatAsOf, formatTime } from '../time.ts';
import { toSheet } from './report-table.ts';
import { formatRunHeading, type RunDetails } from './run-details.ts';
import { formatRunSummary } from './run-summary.ts';
import { countsTable, runTables } from './run-tables.ts';

/** @returns pieces: bytes of a workbook, text otherwise */
export async function* formatRunReport(
  details: RunDetails,
  format: RunReportFormat,
  asOf: AsOf,
  screen: Screen = plainScreen,
): AsyncGenerator<string | Uint8Array, void, undefined> {
  // Load page and workbook code only when needed.
  switch (format) {
    case 'table':
      yield `${formatRunDetails(details, screen)}\n`;
      return yield* asOf.read ? [`\nas of ${formatAsOf(asOf)}\n`] : [];
    case 'json':
      return yield `${JSON.stringify({ ...details, ...(asOf.read && asOfFields(asOf)) })}\n`;
    case 'xlsx': {
      const { formatXlsxTables } = await import('../formats/xlsx.ts');
      const tables = [countsTable(details), ...runTables(details)].filter(({ lines }) => lines.length > 0);
      return yield* formatXlsxTables(
        { ...formatRunHeading(details), asOf },
        tables.map((table) => toSheet(table, asOf)),
      );
    }
    case 'html':
      return yield* (await import('./run-page.ts')).formatRunPage(details, asOf);
  }
}

/** The summary, then every table that has lines. */
export function formatRunDetails(details: RunDetails, screen: Screen = plainScreen): string {
  const { summary, stateReason, recordsDeletedAt, account, channel, sending } = details;
  const { attempts, retries, retried } = sending;
  const parts = [
    formatRunSummary(summary, screen),
    ...(stateReason ? [`  because     ${printable(stateReason)}`] : []),
    `  account     ${printable(account)}, ${channel}`,
    recordsDeletedAt
      ? `  records     deleted at ${formatTime(screen, recordsDeletedAt)}; counts, requests that were not simply accepted, and costs are left`
      : `  attempts    ${attempts}${retries > 0 ? `: ${retries} of them retries, of ${retried} requests` : ''}`,
  ];
  for (const { title, columns, lines } of runTables(details))
    if (lines.length > 0)
      parts.push('', styled(printable(title), 'title', screen), formatLines(columns, lines, screen));
  return parts.join('\n');
}
