import { type NextStep, nextStep, nextStepText } from '../domain/next-step.ts';
import type { RateLimits } from '../domain/rate-limits.ts';
import { formatReason, type RunReason } from '../domain/reasons.ts';
import type { CanaryWait, RunWait, WinnerWait } from '../domain/waits.ts';
import { asSentence, count } from '../platform/sentence.ts';
import { limitTexts } from './lists/limits.ts';
import { printable } from './printable.ts';
import { formatLocal } from './time.ts';

/** All that is said of a wait. */
type WaitWords = {
  /** A sentence. */
  readonly what: string;
  /** What to do about it. */
  readonly next: NextStep;
  /** Beside the state of a run in a list; null if the state says it. */
  readonly short: string | null;
  /** The command by which a person ends the wait; null if none does. A page has a button for it. */
  readonly command: string | null;
};

/** Says what a run waits for, on terminals, pages and in e-mails. @param zone IANA name, of the times */
export function waitWords(wait: RunWait, zone: string): WaitWords {
  const at = (time: Date): string => `${formatLocal(time, zone)} ${zone}`;
  switch (wait.kind) {
    case 'approval':
      return {
        what: `It ${wait.reason === null ? 'waits for approval' : formatReason(wait.reason)}.`,
        next: 'Look at the plan, then approve the run or cancel it. The person who planned it cannot approve it.',
        short: null,
        command: 'volley approve',
      };
    case 'start':
      return {
        what: 'It is planned and not sent yet.',
        next: 'A worker starts it, or you resume it.',
        short: null,
        command: 'volley resume',
      };
    case 'resume':
      return {
        what: asSentence(`It is paused${wait.reason === null ? '' : `: ${formatReason(wait.reason)}`}`),
        next: 'When the cause is fixed, resume it. Nothing is sent before.',
        short: null,
        command: 'volley resume',
      };
    case 'promotion':
      return promotionWords(wait.reason);
    case 'canary':
      return canaryWords(wait, at);
    case 'winner':
      return winnerWords(wait);
    case 'ledger on hold':
      return {
        what: asSentence(`The ledger is on hold: ${formatReason(wait.reason)}`),
        next: holdNext,
        short: 'the ledger is on hold',
        command: null,
      };
    case 'service':
      return {
        what: asSentence(`The service has refused everything since ${at(wait.since)}: ${wait.words}`),
        next: `The next request is sent at ${at(wait.retryAt)}. The run continues by itself.`,
        short: 'the service refuses',
        command: null,
      };
    case 'window':
      return {
        what: 'Its window is closed.',
        next: `It opens at ${at(wait.opensAt)}, and the run continues.`,
        short: 'its window is closed',
        command: null,
      };
    case 'urgent run':
      return {
        what: `A more urgent run of its account goes first: ${wait.run}.`,
        next: 'The run continues by itself when that run is sent.',
        short: 'a more urgent run goes first',
        command: null,
      };
    case 'worker':
      return {
        what: 'No worker sends it.',
        next: nextStep`Start one that has its account with \`volley serve\` or \`volley worker\`, or see ${{ kind: 'check health' }}.`,
        short: 'no worker sends it',
        command: 'volley resume',
      };
    case 'rate':
      return {
        what: 'The rate of its account limits it.',
        next: nextStep`It may send ${rateText(wait.limits)}; ${{ kind: 'change limits' }} changes that while the run is sent.`,
        short: 'at its rate',
        command: null,
      };
    case 'doubts':
      return {
        what: `${inDoubtText(wait.requests)}: the service may or may not have ${wait.requests === 1 ? 'it' : 'them'}.`,
        next: 'Ask the service, or decide from what you know.',
        short: null,
        command: 'volley resolve',
      };
  }
}

function promotionWords(reason: RunReason): WaitWords {
  return {
    what: asSentence(`It is paused: ${formatReason(reason)}`),
    next: 'Promote it to send the rest, resume it to observe its canary again, or cancel it. Nothing is sent before.',
    short: null,
    command: 'volley promote',
  };
}

function canaryWords(
  { since, until, reported, recipients, asksPerson }: CanaryWait,
  at: (time: Date) => string,
): WaitWords {
  return {
    what: `Its canary is sent, and observed since ${at(since)}: ${reported} of ${count(recipients, 'delivery report')} ${reported === 1 ? 'is' : 'are'} in.`,
    next: `${asksPerson ? 'The run pauses until a person promotes it' : 'The rest is sent, or the run pauses'}, by ${at(until)}. To send the rest now, promote it.`,
    short: 'its canary is observed',
    command: 'volley promote',
  };
}

function winnerWords({ isDecided, problem }: WinnerWait): WaitWords {
  const own = { command: null, short: 'the rest waits for its winner' };
  const byHand = '`volley promote <run> --variant <name>`';
  if (isDecided)
    return problem === null
      ? {
          ...own,
          what: 'It is decided which variant the rest gets.',
          next: '`volley serve` or a worker starts the run of the rest.',
        }
      : {
          ...own,
          what: asSentence(`The rest could not be planned: ${problem}`),
          next: 'Volley tries again each minute. `volley cancel` leaves the rest out.',
        };
  return problem === null
    ? {
        ...own,
        what: 'The rest waits for the variant that wins.',
        next: `\`volley serve\` or a worker decides it; ${byHand} decides it now.`,
      }
    : {
        ...own,
        what: asSentence(problem),
        next: `Decide what the rest gets: ${byHand}, or \`volley cancel\` if nothing.`,
      };
}

export const holdNext = 'Nothing is claimed until an administrator runs `volley db restored`.';

/** `1 request is in doubt`. */
export function inDoubtText(requests: number): string {
  return `${count(requests, 'request')} ${requests === 1 ? 'is' : 'are'} in doubt`;
}

export const settlingText = 'Everything is sent; requests in doubt are being resolved.';

/** `50 requests and 2000 recipients a second`; empty without a limit. */
export function rateText(limits: RateLimits): string {
  const texts = limitTexts(limits);
  return texts.length === 0 ? '' : `${texts.join(' and ')} a second`;
}

/**
 * What a run waits for, below its summary and the reason of its state: these have doubts and that reason already.
 *
 * @param zone IANA name, of the times
 */
export function waitLines(waits: readonly RunWait[], run: string, zone: string): string[] {
  return waits
    .filter(({ kind }) => kind !== 'doubts')
    .map((wait) => {
      const { what, next, command } = waitWords(wait, zone);
      const isSaid = 'reason' in wait && wait.reason !== null && wait.kind !== 'ledger on hold';
      const words = `${isSaid ? '' : `${what} `}${nextStepText(next)}${command === null ? '' : ` \`${command} ${run}\` does it.`}`;
      return `  waits       ${printable(words)}`;
    });
}

/** Says beside the state of a run in a list what it waits for, unless a person ends the wait. */
export function shortWait(waits: readonly RunWait[]): string | null {
  return waits.map((wait) => waitWords(wait, 'UTC').short).find((words) => words !== null) ?? null;
}
