import type { Resolution } from '../domain/runs.ts';
import { count } from '../platform/sentence.ts';

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
