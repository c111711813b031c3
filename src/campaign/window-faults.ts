import type { FieldDefinition } from '../wire/fields.ts';
import { messageFields } from '../wire/fields.ts';
import type { Definition } from './definition.ts';
import { hasPlaceholder } from './placeholders.ts';
import { sendTimeError } from './send-times.ts';
import type { SendingAccount } from './sending-account.ts';
import { isTimeOfDay } from './window-definition.ts';

type Fault = { readonly path: readonly string[]; readonly what: string };

export function windowFaults(definition: Definition, account: SendingAccount): Fault[] {
  const faults: Fault[] = [];
  const fault = (path: readonly string[], what: string): void => {
    faults.push({ path, what: `"${path.join('.')}": ${what}` });
  };
  const { window, deadline, channel, timeZone } = definition;
  if (window && window.timeZone === undefined && timeZone === undefined)
    fault(['window'], 'expected a timeZone here, or one of the campaign.');
  if (window?.timeZone?.kind === 'recipient' && channel === 'email') {
    const what = 'an e-mail address has no time zone; expected a time zone, or { column: … }.';
    fault(['window', 'timeZone'], what);
  }
  if (window?.hold === 'service') {
    const own = ['SendTime', 'TimeZone'].find((name) => Object.hasOwn(definition.message, name));
    if (!supportsServiceHold(messageFields(account.interface, channel))) {
      const what = `${channel} in ${account.interface} has no SendTime with a TimeZone; expected engine.`;
      fault(['window', 'hold'], what);
    } else if (own !== undefined) {
      const what = `the campaign sets "message.${own}" itself; expected engine, or none of its own.`;
      fault(['window', 'hold'], what);
    }
  }
  const timeError = sendTimeError(Object.fromEntries(staticTimes(definition)));
  if (timeError !== undefined) fault(['message', 'SendTime'], `${timeError}.`);
  if (deadline !== undefined && campaignZone(definition) === undefined)
    fault(['deadline'], 'expected a timeZone of the campaign, because a deadline is a local time.');
  if (deadline !== undefined && definition.schedule?.cron !== undefined && !isTimeOfDay(deadline)) {
    const what = 'later runs of the schedule would all miss it; expected a time of day such as "06:00".';
    fault(['deadline'], what);
  }
  if (definition.onDeadline !== undefined && deadline === undefined)
    fault(['onDeadline'], 'expected a deadline too.');
  return faults;
}

function staticTimes({ message }: Definition): [string, string][] {
  return Object.entries(message).flatMap(([name, value]): [string, string][] =>
    (name === 'SendTime' || name === 'TimeZone') && typeof value === 'string' && !hasPlaceholder(value)
      ? [[name, value]]
      : [],
  );
}

export function campaignZone({
  timeZone,
  window,
  schedule,
}: Pick<Definition, 'timeZone' | 'window' | 'schedule'>): string | undefined {
  const ofWindow = window?.timeZone?.kind === 'zone' ? window.timeZone.zone : undefined;
  return timeZone ?? ofWindow ?? schedule?.timeZone;
}

function supportsServiceHold(fields: readonly FieldDefinition[]): boolean {
  return ['SendTime', 'TimeZone'].every((name) => fields.some((field) => field.name === name));
}
