import type { ListedNotification, ScheduleNotification } from '../ledger/notifications/list.ts';
import { count } from '../platform/sentence.ts';
import { printable } from './printable.ts';

/** One line per notification, to follow a run's summary. */
export function notificationLines(notifications: readonly ListedNotification[]): string[] {
  return notifications.map((each) => `  notify      ${each.event} by ${each.way}: ${formatOutcome(each)}`);
}

export function tickNotificationLines(notifications: readonly ScheduleNotification[]): string[] {
  return notifications.map(
    (each) => `${printable(each.schedule)}: ${each.event} by ${each.way}: ${formatOutcome(each)}`,
  );
}

function formatOutcome({ state, attempts, problem, mailRun, mailState }: ListedNotification): string {
  const because = problem === null ? '' : `: ${printable(problem)}`;
  const attemptCount = count(attempts, 'attempt');
  switch (state) {
    case 'acknowledged':
      return mailRun === null ? 'acknowledged' : `sent by run ${mailRun}, which is ${mailState ?? 'missing'}`;
    case 'due':
      return attempts === 0 && problem === null
        ? 'not sent yet'
        : `not acknowledged yet, ${attemptCount}${because}`;
    case 'given up':
      return `given up, ${attemptCount}${problem === null ? ': the run was purged' : because}`;
  }
}
