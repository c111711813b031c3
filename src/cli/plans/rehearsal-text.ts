import { decisionText } from '../../domain/decisions.ts';
import { formatReason } from '../../domain/reasons.ts';
import { formatDuration, formatPercent } from '../../domain/scalar-text.ts';
import type { RehearsalStep } from '../../engine/rehearsal/rehearse.ts';
import type { CampaignRehearsal } from '../../engine/rehearsal/rehearse-campaign.ts';
import type { KnownService } from '../../engine/rehearsal/service.ts';
import { count } from '../../platform/sentence.ts';
import { printable } from '../../report/printable.ts';
import { plainScreen, type Screen } from '../../report/screen.ts';
import { formatSeconds, formatTime, screenZone } from '../../report/time.ts';

/** What a rehearsal prints: what it takes the service to do, each step, and the end. */
export function rehearsalText(
  campaign: string,
  rehearsal: CampaignRehearsal,
  screen: Screen = plainScreen,
): string {
  const { seed, steps, recipients, counts } = rehearsal;
  const { accepted, delivered, undelivered, rejected, unknown, sent } = counts;
  const unsent = recipients - sent;
  const begin = steps[0]?.at ?? new Date(0);
  return [
    `Rehearsal of ${campaign} (seed ${seed}), in simulated time. Nothing has been sent or written. Times are in ${screenZone(screen)}.`,
    ...serviceLines(rehearsal),
    ...steps.map((step) => stepLine(step, begin, screen)),
    `  result      of ${count(recipients, 'recipient')}: ${delivered} delivered, ${undelivered} undelivered, ${accepted - delivered - undelivered} without a report, ${rejected} rejected, ${unknown} unknown, ${unsent} not sent to`,
  ].join('\n');
}

function serviceLines({ service, formerRuns }: CampaignRehearsal): string[] {
  const from = (key: keyof KnownService): string => sourceText(service[key].source, formerRuns);
  const share = (key: 'rejected' | 'unknown' | 'unreported' | 'undelivered'): string =>
    `${formatPercent(Math.round(service[key].value * 10_000) / 10_000)} ${key} (${from(key)})`;
  const { half, most } = service.reportAfter.value;
  return [
    `  answers     after ${formatDuration(Math.round(service.answerAfter.value))} (${from('answerAfter')}); ${share('rejected')}, ${share('unknown')}`,
    `  reports     ${share('undelivered')}, ${share('unreported')}; half of them within ${formatSeconds(half / 1_000)}, most within ${formatSeconds(most / 1_000)} (${from('reportAfter')})`,
  ];
}

function sourceText(source: KnownService[keyof KnownService]['source'], runs: number): string {
  switch (source) {
    case 'former runs':
      return `as in ${count(runs, 'former run')}`;
    case 'account':
      return 'as in other runs of the account';
    case 'no reports':
      return 'the account has neither a webhook nor a look-up';
    case 'given':
    case 'assumed':
      return source;
  }
}

function stepLine(step: RehearsalStep, begin: Date, screen: Screen): string {
  const after = formatSeconds((step.at.getTime() - begin.getTime()) / 1_000);
  return `  ${formatTime(screen, step.at)}  ${`+${after}`.padStart(8)}  ${stepText(step)}`;
}

function stepText(step: RehearsalStep): string {
  const sent = count(step.sent, 'recipient');
  switch (step.kind) {
    case 'begun':
      return 'begins';
    case 'canary sent':
      return `the canary is sent (${sent}), and observed`;
    case 'window closed':
      return `no window is open (${sent} so far)`;
    case 'window open':
      return 'a window opens';
    case 'rejected':
      return printable(`${formatReason(step.reason)} (${sent} so far)`);
    case 'decided':
      return printable(`${step.decision} (${sent} so far). ${decisionText(step.decision, step.record)}`);
    case 'paused':
      return `paused (${sent})`;
    case 'completed':
      return `completed: all are sent (${sent})`;
  }
}
