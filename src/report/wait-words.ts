import { formatReason } from '../domain/reasons.ts';
import type { RunWait } from '../domain/waits.ts';
import { asSentence, count } from '../platform/sentence.ts';
import { limitTexts } from './lists/limits.ts';
import { printable } from './printable.ts';
import { formatLocal } from './time.ts';

/** A wait in one sentence, and what to do about it, with commands between backticks. */
type WaitWords = { readonly what: string; readonly next: string };

/** For terminals, pages and e-mails. @param zone IANA name, of the times */
export function waitWords(wait: RunWait, zone: string): WaitWords {
  const at = (time: Date): string => `${formatLocal(time, zone)} ${zone}`;
  switch (wait.kind) {
    case 'approval':
      return {
        what: `It ${wait.reason === null ? 'waits for approval' : formatReason(wait.reason)}.`,
        next: 'Look at the plan, then approve the run or cancel it. The person who planned it cannot approve it.',
      };
    case 'start':
      return {
        what: 'It is planned and not sent yet.',
        next: 'A worker starts it, or you resume it.',
      };
    case 'resume':
      return {
        what: asSentence(`It is paused${wait.reason === null ? '' : `: ${formatReason(wait.reason)}`}`),
        next: 'When the cause is fixed, resume it. Nothing is sent before.',
      };
    case 'ledger on hold':
      return {
        what: asSentence(`The ledger is on hold: ${formatReason(wait.reason)}`),
        next: 'Nothing is claimed until an administrator runs `volley db restored`.',
      };
    case 'service':
      return {
        what: asSentence(`The service has refused everything since ${at(wait.since)}: ${wait.words}`),
        next: `The next request is sent at ${at(wait.retryAt)}. The run continues by itself.`,
      };
    case 'window':
      return {
        what: 'Its window is closed.',
        next: `It opens at ${at(wait.opensAt)}, and the run continues.`,
      };
    case 'urgent run':
      return {
        what: `A more urgent run of its account goes first: ${wait.run}.`,
        next: 'The run continues by itself when that run is sent.',
      };
    case 'worker':
      return {
        what: 'No worker sends it.',
        next: 'Start one that has its account with `volley serve` or `volley worker`, or look at the health of the workers.',
      };
    case 'rate':
      return {
        what: 'The rate of its account limits it.',
        next: `It may send ${limitTexts(wait.limits).join(' and ')} a second. \`volley account limits\` changes that while the run is sent.`,
      };
    case 'doubts':
      return {
        what: `${count(wait.requests, 'request')} ${wait.requests === 1 ? 'is' : 'are'} in doubt: the service may or may not have ${wait.requests === 1 ? 'it' : 'them'}.`,
        next: 'Ask the service, or decide from what you know.',
      };
  }
}

const commands: Readonly<Partial<Record<RunWait['kind'], string>>> = {
  approval: 'volley approve',
  start: 'volley resume',
  resume: 'volley resume',
  worker: 'volley resume',
  doubts: 'volley resolve',
};

/** The command by which a person ends the wait, if there is one. A page has a button for it. */
export function waitCommand({ kind }: RunWait, run: string): string | undefined {
  const command = commands[kind];
  return command && `${command} ${run}`;
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
      const { what, next } = waitWords(wait, zone);
      const command = waitCommand(wait, run);
      const isSaid = (wait.kind === 'approval' || wait.kind === 'resume') && wait.reason !== null;
      const words = `${isSaid ? '' : `${what} `}${next}${command ? ` \`${command}\` does it.` : ''}`;
      return `  waits       ${printable(words)}`;
    });
}

const shortWords: Readonly<Partial<Record<RunWait['kind'], string>>> = {
  'ledger on hold': 'the ledger is on hold',
  service: 'the service refuses',
  window: 'its window is closed',
  'urgent run': 'a more urgent run goes first',
  worker: 'no worker sends it',
  rate: 'at its rate',
};

/** For lists, beside the state of a run that continues by itself; undefined for what a person does. */
export function shortWait(waits: readonly RunWait[]): string | undefined {
  return waits.map(({ kind }) => shortWords[kind]).find((words) => words !== undefined);
}
