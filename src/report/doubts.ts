import type { Resolution } from '../domain/runs.ts';
import { count } from '../platform/sentence.ts';

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
