import { formatGroups } from '../../campaign/recipient-guards.ts';
import type { Decided } from '../../ledger/planning/planned-run.ts';
import { count } from '../../platform/sentence.ts';
import { guardNotes } from './guard-notes.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import type { Preview } from './preview.ts';

/** A sentence about a plan, and the word that stands before it in a terminal. */
type PlanNote = { readonly label: string; readonly text: string };

export const noteSentence = ({ label, text }: PlanNote): string => `${label}: ${text}.`;

/** How a run is watched. */
type WatchedPlan = Pick<Preview, 'recipients' | 'canary' | 'guard'>;

/** Says how a run is watched, and what is unusual about its recipients. The texts quote rows of contact files. */
export function planNotes({
  pastSendTimes,
  removedMarks,
  bidiControls,
  capped,
  ...watched
}: WatchedPlan & Pick<Preview, 'pastSendTimes' | 'removedMarks' | 'bidiControls' | 'capped'>): PlanNote[] {
  return [
    ...(capped.length > 0 ? [{ label: 'left out', text: formatGroups(capped) }] : []),
    ...watchNotes(watched),
    ...(pastSendTimes.recipients > 0 ? [{ label: 'SendTime', text: pastSendTimesText(pastSendTimes) }] : []),
    ...(removedMarks.recipients > 0 ? [{ label: 'cleaned', text: removedMarksText(removedMarks) }] : []),
    ...(bidiControls.recipients > 0 ? [{ label: 'warning', text: bidiText(bidiControls) }] : []),
  ];
}

export function watchNotes({ recipients, canary, guard }: WatchedPlan): PlanNote[] {
  return [
    ...(canary ? [{ label: 'canary', text: canaryText(canary, recipients) }] : []),
    ...(guard ? guardNotes(guard) : []),
  ];
}

/** Says that a canary is as large as the list. Sentences without a full stop. */
export function wholeCanaryWarnings(
  { campaign: { value, locate }, test }: Pick<PreparedCampaign, 'campaign' | 'test'>,
  { canary, recipients }: Pick<Decided, 'canary' | 'recipients'>,
): string[] {
  if (!value.canary || canary || test || recipients === 0) return [];
  const all = count(recipients, 'recipient');
  return [`${locate(['canary', 'recipients'])}: the canary would be all ${all}, so nothing waits for it`];
}

function canaryText({ recipients, ranges }: NonNullable<Preview['canary']>, all: number): string {
  const requests = ranges.map(({ first, last }) =>
    first === last ? `request ${first}` : `requests ${first}–${last}`,
  );
  return `${recipients.toLocaleString('en')} of ${count(all, 'recipient')} go first, in ${requests.join(', ')}; the rest waits until the run is promoted`;
}

function pastSendTimesText({ recipients, examples }: Preview['pastSendTimes']): string {
  const some = examples
    .map(({ fileAndLine, sendTime }) => `${fileAndLine} (${sendTime === '' ? 'empty' : sendTime})`)
    .join(', ');
  return `past or empty for ${count(recipients, 'recipient')}, so the service sends at once: ${some}`;
}

function removedMarksText({ recipients, marks, examples }: Preview['removedMarks']): string {
  const what = marks.map((each) => `${each.mark} (${each.recipients})`).join(', ');
  return `${count(recipients, 'number')}, of characters that are no part of one: ${what}; see ${examples.join(', ')}`;
}

function bidiText({ recipients, characters, examples }: Preview['bidiControls']): string {
  const messages = recipients === 1 ? '1 message holds' : `${recipients} messages hold`;
  return `${messages} characters that turn the direction of text, so a reader may see other text: ${characters.join(', ')}; see ${examples.join(', ')}`;
}
