import type { Destinations, Envelope } from '../../domain/message.ts';

/** A request that only this owner can send now. */
export type ClaimedRequest = {
  readonly request: number;
  readonly messageId: string;
  readonly attempt: number;
  readonly envelope: Envelope;
  readonly destinations: Destinations;
};

/** A request whose recipients are all suppressed. */
export type CancelledRequest = { readonly request: number; readonly recipients: number };
