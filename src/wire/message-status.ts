import type { Format } from '../domain/message.ts';
import {
  type AnswerMembers,
  encodeAnswer,
  pageMembers,
  type RecordPage,
  type RecordTime,
} from './answer-members.ts';
import type { EncodedAnswer } from './wire-interface.ts';

/**
 * The status of a message, in pages of recipients (docs/reference/interfaces.md, "Status look-up"; not in
 * interface.md).
 */

/** The observed states. */
const messageStates = ['Pending', 'Delayed', 'Completed', 'CreditHold', 'Unknown'] as const;
export type MessageState = (typeof messageStates)[number];

/** Prices are decimal text in the account's currency. */
export type MessageStatus = RecordPage & {
  readonly messageId: string;
  readonly state: MessageState;
  readonly jobNumber: string;
  readonly account: string;
  readonly subAccount?: string;
  readonly department?: string;
  readonly reference?: string;
  readonly createdTime: RecordTime;
  /** When a delayed message will be sent. */
  readonly delayedTime?: RecordTime;
  /** As written in the request, or the sender's default. */
  readonly timeZone: string;
  /** Numbers of recipients: all, finished, and by result. */
  readonly count: number;
  readonly complete: number;
  readonly success: number;
  readonly failed: number;
  readonly price: string;
  readonly recipients: readonly RecipientStatus[];
};

export type RecipientStatus = {
  readonly type: string;
  /** Position in the message, from 1. */
  readonly sequence: number;
  readonly destination: string;
  readonly status: string;
  readonly result: string;
  readonly sentTime?: RecordTime;
  readonly price: string;
  /** The destination's fields by name. */
  readonly fields: Readonly<Record<string, string>>;
  /** The recipient's replies; only if the caller asked for them. */
  readonly replies?: readonly InboundRecord[];
};

/** A reply, or an unsolicited message. */
export type InboundRecord = {
  readonly receivedId: string;
  readonly receivedTime: RecordTime;
  readonly timeZone: string;
  readonly from: string;
  readonly text: string;
};

export type StatusAnswer =
  | { readonly kind: 'found'; readonly status: MessageStatus }
  /** Unknown, deleted, or not processed yet. */
  | { readonly kind: 'unknown'; readonly messageId: string }
  | { readonly kind: 'unauthorized'; readonly words: readonly string[] };

const unknownMessage = 'No message with this MessageID was found, or it is not processed yet';

export function encodeStatusAnswer(answer: StatusAnswer, format: Format): EncodedAnswer {
  switch (answer.kind) {
    case 'unknown':
      return encodeAnswer(
        404,
        { Result: 'RecordNotFound', MessageID: answer.messageId, ErrorMessage: [unknownMessage] },
        format,
      );
    case 'unauthorized':
      return encodeAnswer(401, { Result: 'Unauthorized', ErrorMessage: answer.words }, format);
    case 'found':
      return encodeAnswer(200, toMembers(answer.status), format);
  }
}

function toMembers(status: MessageStatus): AnswerMembers {
  return {
    Result: 'Success',
    MessageID: status.messageId,
    Status: status.state,
    JobNum: status.jobNumber,
    Account: status.account,
    SubAccount: status.subAccount ?? null,
    Department: status.department ?? null,
    Reference: status.reference ?? null,
    CreatedTimeLocal: status.createdTime.local,
    CreatedTimeUTC: status.createdTime.utc,
    DelayedTimeLocal: status.delayedTime?.local ?? null,
    DelayedTimeUTC: status.delayedTime?.utc ?? null,
    Timezone: status.timeZone,
    Count: status.count,
    Complete: status.complete,
    Success: status.success,
    Failed: status.failed,
    Price: status.price,
    ...pageMembers(status.count, status),
    Recipients: status.recipients.map(toRecord),
  };
}

/** The destination's members, in wire order. */
const destinationMembers: readonly string[] = [
  'Attention',
  'Company',
  ...Array.from({ length: 9 }, (_, index) => `Custom${index + 1}`),
];

function toRecord(recipient: RecipientStatus): AnswerMembers {
  const { fields } = recipient;
  return {
    Type: recipient.type,
    DestSeq: String(recipient.sequence).padStart(8, '0'),
    Destination: recipient.destination,
    ContactID: null,
    Status: recipient.status,
    Result: recipient.result,
    SentTimeLocal: recipient.sentTime?.local ?? null,
    SentTimeUTC: recipient.sentTime?.utc ?? null,
    ...Object.fromEntries(destinationMembers.map((name) => [name, fields[name] ?? null])),
    RemoteID: null,
    Price: recipient.price,
    ...(recipient.replies && { SMSReplies: recipient.replies.map(toReply) }),
  };
}

export function toReply({ receivedId, receivedTime, timeZone, from, text }: InboundRecord): AnswerMembers {
  return {
    ReceivedID: receivedId,
    ReceivedTimeLocal: receivedTime.local,
    ReceivedTimeUTC: receivedTime.utc,
    Timezone: timeZone,
    From: from,
    MessageText: text,
  };
}
