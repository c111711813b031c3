import type { Destination } from '../domain/message.ts';
import { recordsOnPage } from '../wire/answer-members.ts';
import {
  encodeFollowUpAnswer,
  type FollowUpAnswer,
  type FollowUpCall,
  type FollowUpQuestion,
  type MessageAction,
  type ReceivedPeriod,
  type ReceivedRecord,
} from '../wire/follow-up-calls.ts';
import { encodeStatusAnswer, type StatusAnswer } from '../wire/message-status.ts';
import type { EncodedAnswer } from '../wire/wire-interface.ts';
import { deliveryAt, repliesOf, stateOf, statusOf } from './message-status.ts';
import { type AcceptedMessage, type KeptMessage, type Messages, sendTimeOf } from './messages.ts';
import type { SandboxSettings } from './options.ts';
import { areAccepted, unauthorizedWords } from './receive-request.ts';

export type FollowUpService = {
  readonly settings: SandboxSettings;
  readonly messages: Messages;
  readonly now: () => Date;
};

type Question<Kind> = Extract<FollowUpQuestion, { kind: Kind }>;

export function answerFollowUpCall(
  { question, credentials, format }: FollowUpCall,
  service: FollowUpService,
): EncodedAnswer {
  if (!areAccepted(credentials, service.settings.token)) {
    return encodeStatusAnswer({ kind: 'unauthorized', words: unauthorizedWords }, format);
  }
  if (question.kind === 'received') return encodeFollowUpAnswer(answerReceived(question, service), format);
  const { messageId } = question;
  const kept = service.messages.find(messageId);
  if (kept === undefined) return encodeStatusAnswer({ kind: 'unknown', messageId }, format);
  return question.kind === 'action'
    ? encodeFollowUpAnswer(applyAction(kept, question, service), format)
    : encodeStatusAnswer(answerStatus(kept, question, service), format);
}

function answerStatus(
  kept: KeptMessage,
  question: Question<'status' | 'reply'>,
  service: FollowUpService,
): StatusAnswer {
  const { recordsPerPage, page, kind } = question;
  const { settings, now } = service;
  const view = { settings, now: now(), withReplies: kind === 'reply' };
  return { kind: 'found', status: statusOf(kept, { recordsPerPage, page }, view) };
}

function answerReceived(question: Question<'received'>, service: FollowUpService): FollowUpAnswer {
  const between = parseReceivedPeriod(question.period, service.settings.timeZone, service.now());
  if (between.kind === 'refused') return between;
  const { recordsPerPage, page } = question;
  const messages =
    service.settings.replyRate === 0 ? [] : [...receivedMessages(service, between.from, between.to)];
  const shown = recordsOnPage(messages, question);
  return { kind: 'received', count: messages.length, messages: shown, recordsPerPage, page };
}

function* receivedMessages(service: FollowUpService, from: Date, to: Date): Generator<ReceivedRecord> {
  const now = service.now();
  for (const message of service.messages.all()) {
    const { sendAt, messageId, jobNumber, labels, destinations } = message;
    if (stateOf(message, now) !== 'Completed' || sendAt < from || sendAt > to) continue;
    for (const destination of destinations) {
      for (const reply of repliesOf(message, destination, service.settings))
        yield { ...reply, messageId, jobNumber, ...labels };
    }
  }
}

/** The result of an action: the changed message with the recipients to report on, or why it is refused. */
type Change =
  | Refused
  | {
      readonly kind: 'changed';
      readonly message: AcceptedMessage;
      readonly recipients?: readonly Destination[];
    };

function applyAction(
  kept: KeptMessage,
  question: Question<'action'>,
  service: FollowUpService,
): FollowUpAnswer {
  const change = actions[question.action](kept, question, service);
  const { messageId, jobNumber } = kept;
  if (change.kind === 'refused') return { ...change, messageId };
  if (change.recipients) service.messages.replace(kept, change.message, change.recipients);
  const state = stateOf(change.message, service.now());
  return { kind: 'done', action: question.action, messageId, jobNumber, state };
}

const actions: Readonly<
  Record<
    MessageAction,
    (message: AcceptedMessage, question: Question<'action'>, service: FollowUpService) => Change
  >
> = {
  abort(message, _question, { now }) {
    if (stateOf(message, now()) !== 'Pending') return refused('Only a pending message can be aborted');
    const aborted = { ...message, aborted: true, sendAt: now() };
    return { kind: 'changed', message: aborted, recipients: message.destinations };
  },
  reschedule(message, { sendTime }, { now }) {
    if (stateOf(message, now()) !== 'Pending') {
      return refused('Only a pending message can be rescheduled');
    }
    const sendAt = futureTime(message, sendTime, now());
    if (!(sendAt instanceof Date)) return sendAt;
    const delayed = { ...message, sendAt, delayed: true };
    return { kind: 'changed', message: delayed, recipients: message.destinations };
  },
  resubmit(message, { sendTime }, service) {
    const now = service.now();
    if (stateOf(message, now) !== 'Completed' || message.aborted) {
      return refused('Only a completed message can be resubmitted');
    }
    const failed = message.destinations.filter(
      (destination) => deliveryAt(message, destination, service.settings, now)?.delivered === false,
    );
    if (failed.length === 0) return refused('The message has no failed recipient');
    const sendAt = sendTime === '' ? now : futureTime(message, sendTime, now);
    if (!(sendAt instanceof Date)) return sendAt;
    const again = { ...message, sendAt, delayed: sendTime !== '', resubmitted: message.resubmitted + 1 };
    return { kind: 'changed', message: again, recipients: failed };
  },
  pacing(message, { numberOfOperators }, { now }) {
    if (message.channel !== 'voice' && message.channel !== 'tts') {
      return refused('Only calls have NumberOfOperators');
    }
    if (stateOf(message, now()) !== 'Pending') return refused('Only a pending message can be paced');
    if (!/^[1-9]\d{0,4}$/.test(numberOfOperators)) {
      return refused('NumberOfOperators must be between 1 and 99999');
    }
    // The sandbox makes no phone calls, so pacing changes nothing.
    return { kind: 'changed', message };
  },
};

type Refused = { readonly kind: 'refused'; readonly words: readonly string[] };

function refused(words: string): Refused {
  return { kind: 'refused', words: [words] };
}

/** In the message's zone (docs/reference/interfaces.md, "Versions 2.03 and 2.04"). */
function futureTime(message: AcceptedMessage, sendTime: string, now: Date): Date | Refused {
  const at = sendTimeOf(sendTime, message.zone.region);
  if (at === undefined) return refused('Missing or invalid SendTime. Expected YYYY-MM-DDTHH:mm:ss');
  return at > now ? at : refused('SendTime must be in the future');
}

type Between = { readonly kind: 'between'; readonly from: Date; readonly to: Date };

const minute = 60_000;
const week = 7 * 24 * 60 * minute;

/** The requested period (docs/reference/interfaces.md, "Versions 2.03 and 2.04"); by default the last day. */
function parseReceivedPeriod(
  { timePeriod, dateFrom, dateTo }: ReceivedPeriod,
  zone: string,
  now: Date,
): Between | Refused {
  if (dateFrom === '' && dateTo === '') {
    const minutes = timePeriod === '' ? 1440 : Number(timePeriod);
    if (!/^\d*$/.test(timePeriod) || minutes < 1 || minutes > 1440) {
      return refused('timePeriod must be between 1 and 1440 minutes');
    }
    return { kind: 'between', from: new Date(now.getTime() - minutes * minute), to: now };
  }
  if (timePeriod !== '') return refused('Expected timePeriod or dateFrom and dateTo, not both');
  // A date alone is its midnight.
  const [from, to] = [dateFrom, dateTo].map((text) =>
    sendTimeOf(/[ T]/.test(text) ? text : `${text}T00:00`, zone),
  );
  if (!from || !to) return refused('dateFrom and dateTo must be times such as 2026-11-21 08:00:00');
  if (from > to || to.getTime() - from.getTime() > week) {
    return refused('dateTo must be at most 7 days after dateFrom');
  }
  return { kind: 'between', from, to };
}
