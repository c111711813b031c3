import type { Destination } from '../domain/message.ts';
import { type AnswerMembers, encodeAnswer, pageMembers, recordsOnPage } from '../wire/answer-members.ts';
import type {
  FollowUpCall,
  FollowUpQuestion,
  MessageAction,
  ReceivedPeriod,
} from '../wire/follow-up-calls.ts';
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

type Answer = { readonly status: number; readonly members: AnswerMembers };

export function answerFollowUpCall(
  { question, credentials, format }: FollowUpCall,
  service: FollowUpService,
): EncodedAnswer {
  const { status, members } = areAccepted(credentials, service.settings.token)
    ? answer(question, service)
    : { status: 401, members: { Result: 'Unauthorized', ErrorMessage: unauthorizedWords } };
  return encodeAnswer(status, members, format);
}

const unknownMessage = 'No message with this MessageID was found, or it is not processed yet';

function answer(question: FollowUpQuestion, service: FollowUpService): Answer {
  if (question.kind === 'received') return answerReceived(question, service);
  const { messageId } = question;
  const kept = service.messages.find(messageId);
  if (kept === undefined) {
    const members = { Result: 'RecordNotFound', MessageID: messageId, ErrorMessage: [unknownMessage] };
    return { status: 404, members };
  }
  if (question.kind === 'action') return applyAction(kept, question, service);
  const { settings, now } = service;
  const view = { settings, now: now(), withReplies: question.kind === 'reply' };
  return { status: 200, members: statusOf(kept, question, view) };
}

function refusal({ words }: Refused, messageId?: string): Answer {
  const id = messageId === undefined ? {} : { MessageID: messageId };
  return { status: 400, members: { Result: 'Failed', ...id, ErrorMessage: words } };
}

function answerReceived(question: Question<'received'>, service: FollowUpService): Answer {
  const { settings, now } = service;
  const between = parseReceivedPeriod(question.period, settings.timeZone, now());
  if (between.kind === 'refused') return refusal(between);
  const messages = settings.replyRate === 0 ? [] : [...receivedMessages(service, between.from, between.to)];
  const Messages = recordsOnPage(messages, question);
  return { status: 200, members: { Result: 'Success', ...pageMembers(messages.length, question), Messages } };
}

function* receivedMessages(service: FollowUpService, from: Date, to: Date): Generator<AnswerMembers> {
  const now = service.now();
  for (const message of service.messages.all()) {
    const { sendAt, messageId, jobNumber, labels, destinations } = message;
    if (stateOf(message, now) !== 'Completed' || sendAt < from || sendAt > to) continue;
    const sent = {
      MessageID: messageId,
      JobNum: jobNumber,
      SubAccount: labels.subAccount ?? null,
      Department: labels.department ?? null,
      ContactID: null,
    };
    for (const destination of destinations)
      for (const reply of repliesOf(message, destination, service.settings)) yield { ...reply, ...sent };
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

function applyAction(kept: KeptMessage, question: Question<'action'>, service: FollowUpService): Answer {
  const { action } = question;
  const change = actions[action](kept, question, service);
  const { messageId, jobNumber } = kept;
  if (change.kind === 'refused') return refusal(change, messageId);
  if (change.recipients) service.messages.replace(kept, change.message, change.recipients);
  const Status = stateOf(change.message, service.now());
  const Action = action.charAt(0).toUpperCase() + action.slice(1);
  const members = { Result: 'Success', MessageID: messageId, Status, JobNum: jobNumber, Action };
  return { status: 200, members };
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
