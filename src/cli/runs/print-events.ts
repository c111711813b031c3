import type { EngineContext } from '../../engine/context.ts';
import { createFollower, type Look } from '../../engine/events/follow-runs.ts';
import { pollLedger } from '../../engine/events/watch-run.ts';
import type { RunEvent } from '../../ledger/events/event.ts';
import { eventToJson, formatEvents, isNoteworthy } from '../../report/run/run-events.ts';
import { screenZone } from '../../report/time.ts';
import type { Shell } from '../shell.ts';
import { outageText, stoppedLooking } from './progress.ts';

type TailOptions = {
  readonly lines?: number;
  readonly since?: Date;
  readonly failures?: true;
  readonly addresses?: true;
  readonly follow?: boolean;
  readonly json?: true;
};

/** Milliseconds. */
const interval = 500;

/** Printed in one look: more would pass before a person can read it. */
const maxLines = 40;

const defaultLines = 10;

/** Prints what happens, as `volley tail`. @param run all runs without one */
export async function printEvents(
  shell: Shell,
  context: EngineContext,
  run: string | undefined,
  { lines, since, failures, addresses, follow, json }: TailOptions,
): Promise<void> {
  const withRun = run === undefined;
  const print = (events: readonly RunEvent[], limit: number): void => {
    const shown = failures ? events.filter(isNoteworthy) : events;
    if (json) for (const event of shown) shell.print(JSON.stringify(eventToJson(event)));
    else for (const line of formatEvents(shown, { screen: shell.screen, withRun }, limit)) shell.print(line);
  };
  shell.endOnStop(stoppedLooking);
  if (shell.screen.width !== undefined) shell.note(`Times are in ${screenZone(shell.screen)}.`);
  const past = lines ?? (since === undefined ? defaultLines : Number.POSITIVE_INFINITY);
  const look = createFollower(context, { run, since: since ?? null, withAddresses: addresses === true });
  let isFirst = true;
  for await (const polled of pollLedger(context.ledger, interval, look)) {
    if (polled.kind === 'down') shell.note(`  waiting  ${outageText(polled.error)}`);
    else if (polled.kind === 'up') shell.note('  waiting  the database outage is over');
    else {
      if (isFirst) print(pastEvents(polled.answer, since, past, failures), Number.POSITIVE_INFINITY);
      else print(polled.answer.events, maxLines);
      isFirst = false;
      if (follow === false || (run !== undefined && !follow && polled.answer.isOver)) return;
    }
  }
}

function pastEvents(
  { events }: Look,
  since: Date | undefined,
  lines: number,
  failures: true | undefined,
): readonly RunEvent[] {
  const wanted = events.filter(
    (event) => (!since || event.at >= since) && (!failures || isNoteworthy(event)),
  );
  return lines < wanted.length ? wanted.slice(wanted.length - lines) : wanted;
}
