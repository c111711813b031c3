import { type RunSummary, recipientStates, requestStates, type WindowWait } from '../domain/runs.ts';
import { painted, paper, type Screen, toneOf } from './screen.ts';
import { minuteOn } from './time.ts';

/** A run in a few lines: every state that is not empty. */
export function runSummaryText(summary: RunSummary, screen: Screen = paper): string {
  const { run, campaign, state, contacts, requests, recipients, waits = [] } = summary;
  const left = [
    [contacts.invalid, 'invalid'],
    [contacts.duplicate, 'duplicate'],
    [contacts.suppressed, 'suppressed'],
  ] as const;
  return [
    `${painted(`Run ${run}`, 'title', screen)}  ${campaign}  ${painted(state, toneOf(state), screen)}`,
    `  contacts    ${counted(contacts.read, left, screen, 'read')}`,
    `  requests    ${counted(
      requests.total,
      requestStates.map((name) => [requests[name], name] as const),
      screen,
    )}`,
    `  recipients  ${counted(
      recipients.total,
      recipientStates.map((name) => [recipients[name], name] as const),
      screen,
    )}`,
    ...waitLines(waits, screen),
  ].join('\n');
}

const shownWaits = 5;

export function waitLines(waits: readonly WindowWait[], screen?: Screen): string[] {
  const lines = waits
    .slice(0, shownWaits)
    .map(
      ({ timeZones, until, requests, recipients }) =>
        `${count(requests, 'request')} (${count(recipients, 'recipient')}) for ${requests === 1 ? 'its' : 'their'} window${placesText(timeZones)}, until ${minuteOn(screen, new Date(until))}`,
    );
  const others = waits.slice(shownWaits);
  const left = others.reduce((sum, { requests }) => sum + requests, 0);
  if (others.length > 0)
    lines.push(`${left} more ${left === 1 ? 'request' : 'requests'} for windows that open later`);
  return lines.map((line) => `  waiting     ${line}`);
}

function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`;
}

/** Whose clocks a window is of: ` in Pacific/Auckland and 2 more time zones`. */
function placesText(timeZones: readonly string[]): string {
  const [zone, ...others] = timeZones;
  if (zone === undefined) return '';
  const more =
    others.length === 0 ? '' : ` and ${others.length} more time ${others.length === 1 ? 'zone' : 'zones'}`;
  return ` in ${zone}${more}`;
}

function counted(
  total: number,
  parts: readonly (readonly [number, string])[],
  screen: Screen,
  word = '',
): string {
  const shown = parts
    .filter(([count]) => count > 0)
    .map(([count, name]) => painted(`${count} ${name.replace('_', ' ')}`, toneOf(name), screen));
  const head = word === '' ? String(total) : `${total} ${word}`;
  return shown.length === 0 ? head : `${head}: ${shown.join(', ')}`;
}
