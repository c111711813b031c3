import { formatReasonOrNull } from '../domain/reasons.ts';
import type { ListedDeliveryReport } from '../ledger/delivery-reports/list.ts';
import type { HistoryAttempt, RecipientHistory } from '../ledger/recipients/history.ts';
import { printable } from './printable.ts';
import { erasedWords } from './purge-hold.ts';
import { formatReasonOf, type WithReasonText } from './reason-text-of.ts';
import { formatCampaign } from './run/run-summary.ts';
import type { Screen } from './screen.ts';
import { formatTime, screenZone } from './time.ts';

export type FormattedHistory = Omit<WithReasonText<RecipientHistory>, 'attempts'> & {
  readonly attempts: readonly (Omit<HistoryAttempt, 'detail'> & { readonly detail: string | null })[];
};

export function formatReasonsOf(history: RecipientHistory): FormattedHistory {
  const attempts = history.attempts.map(({ detail, ...attempt }) => {
    return { ...attempt, detail: formatReasonOrNull(detail) };
  });
  return { ...formatReasonOf(history), attempts };
}

/** Prints what happened to a recipient in order of time, for `volley report recipient`. */
export function formatRecipientHistory(history: FormattedHistory, screen?: Screen): string {
  const { run, channel, address, originalAddress, file, line, messageId } = history;
  const written = originalAddress === address ? '' : ` ("${originalAddress}")`;
  const billing = [
    ['SubAccount', history.subAccount],
    ['Department', history.department],
    ['ChargeCode', history.chargeCode],
  ].flatMap(([name, value]) => (value ? [`${name} ${value}`] : []));
  const purged =
    history.purgedAt === null
      ? []
      : [`  purged     ${formatTime(screen, history.purgedAt)}; ${erasedWords.recipient}`];
  const lines = [
    `${address || '(purged)'}  run ${run} (${formatCampaign(history)}, ${channel})`,
    `  from       ${file ? `${file} ` : ''}line ${line}${written}`,
    ...purged,
    ...(billing.length > 0 ? [`  billed to  ${billing.join(', ')}`] : []),
    `  MessageID  ${messageId}`,
    `  times      ${screenZone(screen)}`,
    ...listEvents(history).map(({ at, words }) => `  ${formatTime(screen, at)}  ${words}`),
    `  ${[history.state, ...formatCost(history)].join('; ')}${history.reason ? `: ${history.reason}` : ''}`,
  ];
  return lines.map(printable).join('\n');
}

/** What happened to a recipient, in words. */
export type HistoryEvent = { readonly at: Date; readonly words: string };

/** Lists what happened in order of time. */
export function listEvents({ attempts, resolutions, reports }: FormattedHistory): HistoryEvent[] {
  return [
    ...attempts.map(({ attempt, startedAt, finishedAt, verdict, httpStatus, detail }) => ({
      at: finishedAt ?? startedAt,
      words: [
        `attempt ${attempt}:`,
        verdict ?? 'sending',
        ...(httpStatus === null ? [] : [`(HTTP ${httpStatus})`]),
        ...(detail ? [detail] : []),
      ].join(' '),
    })),
    ...resolutions.map(({ resolvedAt, resolution, by, reason }) => ({
      at: resolvedAt,
      words: `resolved by ${by}: ${resolution}, "${reason}"`,
    })),
    ...reports.map((report) => ({ at: report.receivedAt, words: formatReport(report) })),
  ].sort((one, other) => one.at.getTime() - other.at.getTime());
}

function formatReport(report: ListedDeliveryReport): string {
  const { state, text, status, result, outcome, why } = report;
  if (state === 'inbound') return `reply: "${text ?? ''}"`;
  // Most results of the service repeat the outcome.
  const said = [status, result?.toLowerCase() === outcome ? undefined : result].filter(Boolean).join(', ');
  return [
    `delivery report: ${said}`,
    ...(outcome ? [outcome] : []),
    ...formatCost(report),
    ...(why ? [why] : []),
    state,
  ].join('; ');
}

function formatCost({ units, price }: Pick<RecipientHistory, 'units' | 'price'>): string[] {
  return [
    ...(units === null ? [] : [`${units} unit${units === '1' ? '' : 's'}`]),
    ...(price === null ? [] : [`price ${price}`]),
  ];
}
