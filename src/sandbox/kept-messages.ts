import type { Destination } from '../domain/message.ts';
import type { AcceptedMessage, Callback } from './delivery.ts';

/** What is kept of a message for follow-up calls. */
export type KeptMessage = {
  readonly message: AcceptedMessage;
  readonly destinations: readonly Destination[];
  /** Absent if no reports are sent. */
  readonly callback?: Callback;
  /** Cancels reports that still wait. */
  readonly cancelReports: () => void;
};

export type KeptMessages = {
  readonly add: (kept: KeptMessage) => void;
  /** Returns the newest with this MessageID. */
  readonly find: (messageId: string) => KeptMessage | undefined;
  readonly all: () => Iterable<KeptMessage>;
};

/** The most recipients of all messages together; the oldest messages are dropped. */
const maxRecipients = 500_000;

/** Characters that use as much memory as a recipient. */
const charactersPerRecipient = 500;

/** @param limit recipients; long texts count as more */
export function openKeptMessages(limit: number = maxRecipients): KeptMessages {
  // A Map keeps insertion order.
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
