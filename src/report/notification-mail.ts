import type { NotificationPayload } from '../domain/notify.ts';
import { printable } from './printable.ts';
import { contactsLine, formatRunSummary } from './run/run-summary.ts';
import { waitLines } from './wait-words.ts';

const count = new Intl.NumberFormat('en');

/** Contains no recipient's address. */
export function formatNotificationMail(notification: NotificationPayload): {
  readonly subject: string;
  readonly text: string;
} {
  if (notification.type === 'run.refused') return formatRefusalMail(notification);
  const { reason } = notification.data;
  const because = reason === null ? [] : [`  because     ${printable(reason)}`];
  if (notification.type === 'schedule.missed') {
    const { campaign, schedule, times, from, until, state } = notification.data;
    const happened = state === 'missed' ? 'missed' : 'could not be planned';
    return {
      subject: `Campaign ${campaign}: ${happened}${times > 1 ? `, ${count.format(times)} times` : ''}`,
      text: [
        `Schedule ${printable(schedule)}  ${campaign}  ${happened}`,
        times > 1 ? `  times       ${times}, from ${from} to ${until}` : `  time        ${from}`,
        ...because,
        '',
        'volley schedule list   shows its ticks.',
      ].join('\n'),
    };
  }
  const { run, campaign, waitsFor } = notification.data;
  return {
    subject: `Campaign ${campaign}: ${headline(notification)}`,
    text: [
      formatRunSummary(notification.data),
      ...because,
      ...waitLines(waitsFor, run, 'UTC'),
      `  event       ${notification.type}, ${notification.timestamp}`,
      '',
      `volley report run ${run}   has the details.`,
    ].join('\n'),
  };
}

type PayloadOf<Type> = Extract<NotificationPayload, { readonly type: Type }>;

function formatRefusalMail({
  data,
  timestamp,
}: PayloadOf<'run.refused'>): ReturnType<typeof formatNotificationMail> {
  const { campaign, schedule, contacts, recipients, reason } = data;
  return {
    subject: `Campaign ${campaign}: refused, nothing was sent`,
    text: [
      `Campaign ${campaign}${schedule === null ? '' : `, schedule ${printable(schedule)}`}: Volley planned no run, and nothing was sent.`,
      contactsLine(contacts),
      `  recipients  ${recipients}`,
      `  because     ${printable(reason)}`,
      `  event       run.refused, ${timestamp}`,
      '',
      'volley plan <campaign file>   repeats the check and sends nothing.',
    ].join('\n'),
  };
}

function headline({
  type,
  data: { state, recipients },
}: Exclude<NotificationPayload, PayloadOf<'schedule.missed' | 'run.refused'>>): string {
  const total = count.format(recipients.total);
  if (type === 'run.warned' && state === 'completed') return 'its rest waits for a person';
  if (type === 'run.warned')
    return `its guard warns, ${count.format(recipients.pending)} of ${total} not sent`;
  if (type === 'run.paused') return `paused, ${count.format(recipients.pending)} of ${total} not sent`;
  const parts = [
    [recipients.rejected + recipients.failed, 'failed'],
    [recipients.unknown, 'unknown'],
  ] as const;
  const wrong = parts
    .filter(([recipients]) => recipients > 0)
    .map(([recipients, word]) => `${count.format(recipients)} of ${total} ${word}`);
  return ['completed', ...(wrong.length > 0 ? wrong : [`${total} sent`])].join(', ');
}
