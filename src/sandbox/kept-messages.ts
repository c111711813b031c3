import { LRUCache } from 'lru-cache';
import type { Destination } from '../domain.ts';
import type { AcceptedMessage } from './delivery.ts';

/** A message with those it goes to, for the status look-up. */
export type KeptMessage = {
  readonly message: AcceptedMessage;
  readonly destinations: readonly Destination[];
};

/** The messages that were accepted last. */
export type KeptMessages = {
  readonly keep: (kept: KeptMessage) => void;
  /** If several carried one MessageID, the newest. */
  readonly find: (messageId: string) => KeptMessage | undefined;
};

/** Recipients of all messages together; beyond it, the oldest messages are forgotten. */
export const mostRecipients = 500_000;

/** Characters of texts that cost as much memory as a recipient does. */
const charactersPerRecipient = 500;

/** @param most recipients that are kept; long texts count as more of them */
export function openKeptMessages(most: number = mostRecipients): KeptMessages {
  const messages = new LRUCache<string, KeptMessage>({ maxSize: most, sizeCalculation: sizeOf });
  return {
    keep: (kept) => void messages.set(kept.message.messageId, kept),
    // A look-up makes no message younger.
    find: (messageId) => messages.peek(messageId),
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
