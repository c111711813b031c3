import { Gauge, type Registry } from 'prom-client';
import type { FleetFigures } from '../engine/reporting/fleet-state.ts';

/** Sets what the ledger says; undefined when it could not be asked, and then nothing old is shown. */
export type ShowFigures = (figures: FleetFigures | undefined) => void;

export function fleetMetrics(registry: Registry): ShowFigures {
  const gauge = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const up = gauge('volley_database_up', 'Whether the database answered when this was asked.');
  const slices = gauge(
    'volley_slices',
    'Slices (of 100 to 2,000 requests) of runs that are not over: waiting for their turn, queued for a worker, held by one. A run that settles its doubts has one more, of that phase.',
    ['account', 'phase', 'state'],
  );
  const refused = gauge(
    'volley_account_refused_seconds',
    'For how long the service of the account has refused everything; no line where it does not.',
    ['account'],
  );
  const lag = gauge('volley_inbox_lag_seconds', 'Since the oldest report that is due fell due.');
  const inbox = gauge(
    'volley_inbox_reports',
    'Reports in the inbox: due, to be looked at again later, or refused by the ledger.',
    ['state'],
  );
  const unknown = gauge(
    'volley_recipients_unknown',
    'Recipients of whom nobody knows whether the service took their request, as far as is booked.',
  );
  const ticks = gauge('volley_schedule_ticks', 'Times of schedules that made no run, since ever.', ['state']);
  const untold = gauge(
    'volley_notifications',
    'What notify has not told: overdue (for more than five minutes), or given up, since ever.',
    ['state'],
  );
  const next = gauge(
    'volley_schedule_next_timestamp_seconds',
    'The next time of any schedule; 0: there is none to come.',
  );
  const all = [slices, refused, lag, inbox, unknown, ticks, untold, next];

  return (figures) => {
    // An account without slices has no line, rather than an old one.
    for (const each of all) each.reset();
    up.set(figures ? 1 : 0);
    if (!figures) {
      for (const each of [lag, unknown, next]) each.remove();
      return;
    }
    for (const { slices: count, ...labels } of figures.slices) slices.set(labels, count);
    for (const { account, seconds } of figures.openBreakers) refused.set({ account }, seconds);
    lag.set(figures.inbox.lag);
    inbox.set({ state: 'due' }, figures.inbox.due);
    inbox.set({ state: 'later' }, figures.inbox.later);
    inbox.set({ state: 'failed' }, figures.inbox.failed);
    unknown.set(figures.unknownRecipients);
    ticks.set({ state: 'missed' }, figures.ticks.missed);
    ticks.set({ state: 'failed' }, figures.ticks.failed);
    untold.set({ state: 'overdue' }, figures.notifications.overdue);
    untold.set({ state: 'given up' }, figures.notifications.givenUp);
    next.set((figures.nextTick?.getTime() ?? 0) / 1000);
  };
}
