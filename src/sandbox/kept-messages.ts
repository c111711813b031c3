import type { Destination } from '../domain/message.ts';
import type { AcceptedMessage, Callback } from './delivery.ts';

/** A message with those it goes to, for later calls about it. */
export type KeptMessage = {
  readonly message: AcceptedMessage;
  readonly destinations: readonly Destination[];
  /** Where its reports go; absent where none are sent. */
  readonly callback?: Callback;
  /** Calls off the reports that wait for their time. */
  readonly cancelReports: () => void;
};

export type KeptMessages = {
  readonly add: (kept: KeptMessage) => void;
  /** If several carried one MessageID, the newest. */
  readonly find: (messageId: string) => KeptMessage | undefined;
  readonly all: () => Iterable<KeptMessage>;
};

/** Recipients of all messages together; beyond it, the oldest messages are forgotten. */
export const maxRecipients = 500_000;

/** Characters of texts that cost as much memory as a recipient does. */
const charactersPerRecipient = 500;

/** @param limit recipients that are kept; long texts count as more of them */
export function openKeptMessages(limit: number = maxRecipients): KeptMessages {
  // In the order of their coming, for a Map keeps it.
  const messages = new Map<string, KeptMessage>();
  let total = 0;

  const remove = (messageId: string): void => {
    const kept = messages.get(messageId);
    if (kept) total -= sizeOf(kept);
    messages.delete(messageId);
  };

  return {
    add(kept) {
      const { messageId } = kept.message;
      remove(messageId);
      messages.set(messageId, kept);
      total += sizeOf(kept);
      for (const oldest of messages.keys()) {
        if (total <= limit) break;
        remove(oldest);
      }
    },
    find: (messageId) => messages.get(messageId),
    all: () => messages.values(),
  };
}

function sizeOf({ message, destinations }: KeptMessage): number {
  const { content } = message;
  let characters = content.kind === 'sms' ? content.text.length : 0;
  for (const destination of destinations) {
    for (const value of Object.values(destination)) characters += value.length;
  }
  return 1 + destinations.length + Math.floor(characters / charactersPerRecipient);
}
