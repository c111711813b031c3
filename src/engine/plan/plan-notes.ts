import { formatGroups } from '../../campaign/recipient-guards.ts';
import { count } from '../../platform/sentence.ts';
import { guardNotes } from './guard-notes.ts';
import type { Preview } from './preview.ts';

/** A sentence about a plan, and the word that stands before it in a terminal. */
type PlanNote = { readonly label: string; readonly text: string };

/** Says how a run is watched, and what is unusual about its recipients. The texts quote rows of contact files. */
export function planNotes({
  recipients,
  canary,
  guard,
  pastSendTimes,
  removedMarks,
  bidiControls,
  capped,
}: Pick<
  Preview,
  'recipients' | 'canary' | 'guard' | 'pastSendTimes' | 'removedMarks' | 'bidiControls' | 'capped'
>): PlanNote[] {
  return [
    ...(capped.length > 0 ? [{ label: 'left out', text: formatGroups(capped) }] : []),
    ...(canary ? [{ label: 'canary', text: canaryText(canary, recipients) }] : []),
    ...(guard ? guardNotes(guard) : []),
    ...(pastSendTimes.recipients > 0 ? [{ label: 'SendTime', text: pastSendTimesText(pastSendTimes) }] : []),
    ...(removedMarks.recipients > 0 ? [{ label: 'cleaned', text: removedMarksText(removedMarks) }] : []),
    ...(bidiControls.recipients > 0 ? [{ label: 'warning', text: bidiText(bidiControls) }] : []),
  ];
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
