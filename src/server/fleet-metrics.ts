import { Gauge, type Registry } from 'prom-client';
import type { FleetFigures } from '../engine/reporting/fleet-state.ts';

/** Undefined: the ledger did not answer. */
type ShowFigures = (figures: FleetFigures | undefined) => void;

export function createFleetMetrics(registry: Registry): ShowFigures {
  const gauge = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const up = gauge('volley_database_up', '1 if the database answered, otherwise 0.');
  const slices = gauge(
    'volley_slices',
    'Slices (of 100 to 2,000 requests) of runs that are not over: unpromoted behind a canary, waiting for their turn, queued for a worker, held by one. A run that settles its doubts has one more, in that phase.',
    ['account', 'phase', 'state'],
  );
  const refused = gauge(
    'volley_account_refused_seconds',
    'How long the service of the account has refused everything; no line if it does not, or if no run of the account is running.',
    ['account'],
  );
  const lag = gauge('volley_inbox_lag_seconds', 'How long the oldest due delivery report has waited.');
  const inbox = gauge(
    'volley_inbox_delivery_reports',
    'Delivery reports in the inbox: due, to be matched again later, or refused by Postgres.',
    ['state'],
  );
  const undecided = gauge(
    'volley_delivery_reports_undecided',
    'Calls of the last 30 days that were answered 200 and decided nothing, because they cannot be read or match no request; each up to 10,000.',
    ['state'],
  );
  const unknown = gauge(
    'volley_recipients_unknown',
    'Recipients of requests in doubt or abandoned, as far as billing is booked.',
  );
  const ticks = gauge('volley_schedule_ticks', 'Ticks of schedules that made no run, of all time.', [
    'state',
  ]);
  const notifications = gauge(
    'volley_notifications',
    'Notifications that are overdue for more than five minutes, or given up, of all time.',
    ['state'],
  );
  const next = gauge('volley_schedule_next_timestamp_seconds', 'The next tick of any schedule; 0: none.');
  const all = [slices, refused, lag, inbox, undecided, unknown, ticks, notifications, next];

  return (figures) => {
    // An account without slices would keep its old line.
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
    undecided.set({ state: 'unreadable' }, figures.undecided.unreadable);
    undecided.set({ state: 'unmatched' }, figures.undecided.unmatched);
    unknown.set(figures.unknownRecipients);
    ticks.set({ state: 'missed' }, figures.ticks.missed);
    ticks.set({ state: 'failed' }, figures.ticks.failed);
    notifications.set({ state: 'overdue' }, figures.notifications.overdue);
    notifications.set({ state: 'given up' }, figures.notifications.givenUp);
    next.set((figures.nextTick?.getTime() ?? 0) / 1000);
  };
}
