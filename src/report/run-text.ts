import { linesTable } from './formats/table.ts';
import { printable } from './printable.ts';
import type { RunDetails } from './run-details.ts';
import { runSummaryText } from './run-summary.ts';
import { runTables } from './run-tables.ts';
import { painted, paper, type Screen } from './screen.ts';

/** For the terminal: the summary, then every table that has a line. */
export function runDetailsText(details: RunDetails, screen: Screen = paper): string {
  const { summary, stateReason, account, channel, sending } = details;
  const { attempts, retries, retried } = sending;
  const parts = [
    runSummaryText(summary, screen),
    ...(stateReason ? [`  because     ${printable(stateReason)}`] : []),
    `  account     ${printable(account)}, ${channel}`,
    `  attempts    ${attempts}${retries > 0 ? `: ${retries} of them retries, of ${retried} requests` : ''}`,
  ];
  for (const { title, columns, lines } of runTables(details))
    if (lines.length > 0)
      parts.push('', painted(printable(title), 'title', screen), linesTable(columns, lines, screen));
  return parts.join('\n');
}
