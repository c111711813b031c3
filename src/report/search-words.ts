import type { RecipientReport } from '../engine/reporting/recipient-report.ts';
import { count } from '../platform/sentence.ts';
import { formatLocal } from './time.ts';

const names = {
  messageId: 'a MessageID',
  jobNumber: 'a job number',
  chargeCode: 'a ChargeCode',
  words: 'words of a row in a contact file',
} as const;

/** What was searched, and how old the oldest match may be: sentences. */
export function searchSentences(
  { readings, searched }: Pick<RecipientReport, 'readings' | 'searched'>,
  zone: string,
): string[] {
  const time = (at: Date): string => `${formatLocal(at, zone).slice(0, 16)} ${zone}`;
  const tried = readings.flatMap((reading) => {
    if (reading.kind === 'unreadable') return [];
    if (reading.kind !== 'address') return names[reading.kind];
    const { address, country } = reading;
    if (country === null) return `the address ${address}`;
    return `a number of ${new Intl.DisplayNames('en', { type: 'region' }).of(country)}: ${address}`;
  });
  const { since, purged, lastPurge } = searched;
  return [
    tried.length > 0 ? `Searched as ${tried.join('; as ')}.` : '',
    since === null
      ? 'There is no run to search.'
      : `The oldest run that was searched was planned at ${time(since)}.`,
    lastPurge === null
      ? ''
      : `Purges have erased the recipients of ${count(purged, 'run')}, the last time at ${time(lastPurge)}.`,
    ...readings.map((reading) => {
      if (reading.kind === 'unreadable') return `As a phone number: ${reading.why}.`;
      if (reading.kind !== 'words' || reading.endedAt === null) return '';
      return `Not all contact files of runs planned up to ${time(reading.endedAt)} were searched: more words are found faster.`;
    }),
  ].filter(Boolean);
}
