import type { Resolution } from '../domain/runs.ts';
import { asSentence, count } from '../platform/sentence.ts';

/** What the service answered about requests in doubt. */
export function formatLookUp(counts: {
  readonly found: number;
  readonly notFound: number;
  readonly unclear: number;
}): string {
  const { found, notFound, unclear } = counts;
  const parts = [
    `${count(found, 'request')} found and accepted`,
    ...(notFound > 0 ? [`${notFound} not found, which proves nothing: still in doubt`] : []),
    ...(unclear > 0 ? [`${unclear} without a clear answer: still in doubt`] : []),
  ];
  return `${parts.join('; ')}.`;
}

/** What the service answered about missing delivery reports. */
export function formatPoll(counts: {
  readonly asked: number;
  readonly reports: number;
  readonly unclear: number;
}): string {
  const { asked, reports, unclear } = counts;
  if (asked === 0) return 'No delivery report is missing, or all were asked for just now.';
  const parts = [
    `${count(asked, 'request')} looked up`,
    count(reports, 'final delivery report'),
    ...(unclear > 0 ? [`${unclear} without a clear answer`] : []),
  ];
  return `${parts.join('; ')}.`;
}

/**
 * How look-ups ended, and what they found.
 *
 * @param words of the service that refused the credential, or of the failure
 * @param found by `formatLookUp` or `formatPoll`
 */
export function formatLookUpEnd(
  state: 'finished' | 'stopped' | 'refused' | 'failed',
  words: string | null | undefined,
  found: string,
): string {
  switch (state) {
    case 'finished':
      return `The service was asked. ${found}`;
    case 'stopped':
      return `Asking was stopped. ${found}`;
    case 'refused':
      return `${asSentence(`The service refused the credential: ${words ?? ''}`)} ${found}`;
    case 'failed':
      return `Asking failed (${words ?? ''}). ${found} Ask again.`;
  }
}

/** What an operator can decide about requests in doubt: the name of the decision, and what follows. */
export const resolutionWords = {
  accepted: {
    name: 'Count as accepted',
    what: 'The service has them. They count as accepted and are never sent again.',
  },
  resend: {
    name: 'Send again',
    what: 'They are sent again with the same MessageID; resume a completed run for that. If the service has them already, people can get the message twice.',
  },
  abandon: {
    name: 'Give up',
    what: 'They are not sent again. It stays unknown whether people got the message.',
  },
} as const satisfies Readonly<Record<Resolution, { readonly name: string; readonly what: string }>>;

const outcomes: Readonly<Record<Resolution, (run: string) => string>> = {
  accepted: () => 'accepted',
  resend: (run) => `to be sent again; volley resume ${run} sends them`,
  abandon: () => 'abandoned',
};

/** What an operator decided about requests in doubt. */
export function formatResolved(resolved: {
  readonly run: string;
  readonly resolution: Resolution;
  readonly requests: number;
  readonly recipients: number;
}): string {
  const { run, resolution, requests, recipients } = resolved;
  if (requests === 0) return `No request of run ${run} is in doubt.`;
  return `${count(requests, 'request')} with ${count(recipients, 'recipient')}: ${outcomes[resolution](run)}.`;
}
