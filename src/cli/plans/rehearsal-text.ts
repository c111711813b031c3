import { decisionText } from '../../domain/decision-words.ts';
import { formatDuration, formatPercent } from '../../domain/scalar-text.ts';
import type { RehearsalStep } from '../../engine/rehearsal/rehearse.ts';
import type { CampaignRehearsal } from '../../engine/rehearsal/rehearse-campaign.ts';
import type { ServiceModel, Source } from '../../engine/rehearsal/service-model.ts';
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
  const { seed, steps, recipients, counts, late } = rehearsal;
  const { accepted, delivered, undelivered, rejected, unknown, sent } = counts;
  const unsent = recipients - sent;
  const begin = steps[0]?.at ?? new Date(0);
  return [
    `Rehearsal of ${campaign} (seed ${seed}), in simulated time. Nothing has been sent or written. Times are in ${screenZone(screen)}.`,
    ...modelLines(rehearsal),
    ...steps.map((step) => stepLine(step, begin, screen)),
    `  result      of ${count(recipients, 'recipient')}: ${delivered} delivered, ${undelivered} undelivered, ${accepted - delivered - undelivered} without a report, ${rejected} rejected, ${unknown} unknown, ${unsent} not sent to`,
    ...(late > 0 ? [`  late        ${count(late, 'recipient')}, not sent to before the deadline`] : []),
  ].join('\n');
}

function modelLines({ model, sources, formerRuns }: CampaignRehearsal): string[] {
  const from = (key: keyof ServiceModel): string => sourceText(sources[key], formerRuns);
  const { answerAfter, rejected, unknown, reports, reportDelays } = model;
  const [below = 0, above = 0] = reportDelays.slice(reportDelays.length / 2 - 1);
  const [half, most] = [(below + above) / 2, reportDelays.at(-1) ?? 0];
  return [
    `  answers     after ${formatDuration(answerAfter)} (${from('answerAfter')}); ${percent(rejected)} rejected (${from('rejected')}), ${percent(unknown)} unknown (${from('unknown')})`,
    `  reports     ${percent(reports.delivered)} delivered, ${percent(reports.undelivered)} undelivered (${from('reports')}); half of them within ${formatSeconds(half / 1_000)}, most within ${formatSeconds(most / 1_000)} (${from('reportDelays')})`,
  ];
}

function sourceText(source: Source, runs: number): string {
  if (source === 'account') return 'the account has neither a webhook nor a look-up';
  return source === 'former runs' ? `as in ${count(runs, 'former run')}` : source;
}

const percent = (share: number): string => formatPercent(Math.round(share * 10_000) / 10_000);

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
    case 'deadline':
      return `deadline (${sent} so far)`;
    case 'decided':
      return printable(`${step.decision} (${sent} so far). ${decisionText(step.decision, step.record)}`);
    case 'paused':
      return `paused (${sent})`;
    case 'completed':
      return `completed: all are sent (${sent})`;
  }
}
