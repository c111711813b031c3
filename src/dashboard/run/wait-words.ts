import type { RunWait } from '../../engine/live/waits.ts';
import { formatReason } from '../../platform/reason-text.ts';
import { formatLocal } from '../../report/time.ts';
import { counted } from '../parts/parts.ts';

/** A wait in one sentence, and what to do about it. */
type WaitWords = { readonly what: string; readonly next: string };

/** For people; times in the zone. */
export function waitWords(wait: RunWait, zone: string): WaitWords {
  const at = (time: Date): string => `${formatLocal(time, zone)} ${zone}`;
  switch (wait.kind) {
    case 'approval':
      return {
        what: `It ${wait.reason === null ? 'waits for approval' : formatReason(wait.reason)}.`,
        next: 'Look at the plan, then approve the run or cancel it. The person who planned it cannot approve it.',
      };
    case 'start':
      return { what: 'It is planned and not sent yet.', next: 'A worker starts it, or you resume it.' };
    case 'resume':
      return {
        what: sentence(`It is paused${wait.reason === null ? '' : `: ${formatReason(wait.reason)}`}`),
        next: 'When the cause is fixed, resume it. Nothing is sent before.',
      };
    case 'ledger on hold':
      return {
        what: sentence(`The ledger is on hold: ${formatReason(wait.reason)}`),
        next: 'Nothing is claimed until an administrator runs `volley db restored`.',
      };
    case 'service':
      return {
        what: `The service has refused everything since ${at(wait.since)}: ${wait.words}`,
        next: `The next request is sent at ${at(wait.retryAt)}. The run continues by itself.`,
      };
    case 'window':
      return {
        what: `Its window is closed.`,
        next: `It opens at ${at(wait.opensAt)}, and the run continues.`,
      };
    case 'urgent run':
      return {
        what: `A more urgent run of its account goes first${wait.run === null ? '' : `: ${wait.run}`}.`,
        next: 'The run continues by itself when that run is sent.',
      };
    case 'worker':
      return {
        what: 'No worker sends it.',
        next: 'Start one with `volley serve` or `volley worker`, or look at the health of the workers.',
      };
    case 'rate':
      return { what: 'The rate of its account limits it.', next: limitText(wait.limits) };
    case 'doubts':
      return {
        what: `${counted(wait.requests, 'request')} ${wait.requests === 1 ? 'is' : 'are'} in doubt: the service may or may not have ${wait.requests === 1 ? 'it' : 'them'}.`,
        next: 'Ask the service, or decide from what you know.',
      };
  }
}

/** Some reasons end with a full stop. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function limitText({
  requestsPerSecond,
  recipientsPerSecond,
}: Extract<RunWait, { kind: 'rate' }>['limits']): string {
  const limits = [
    requestsPerSecond === null ? undefined : `${requestsPerSecond} requests`,
    recipientsPerSecond === null ? undefined : `${recipientsPerSecond} recipients`,
  ].filter((each) => each !== undefined);
  return `It may send ${limits.join(' and ')} a second. \`volley account limits\` changes that while the run is sent.`;
}
