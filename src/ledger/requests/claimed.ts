import type { Destination, Envelope } from '../../domain/message.ts';
import type { SliceRange } from './orphans.ts';

/** A request that this owner alone may send now. */
export type ClaimedRequest = {
  readonly request: number;
  readonly messageId: string;
  readonly attempt: number;
  readonly envelope: Envelope;
  readonly destinations: readonly Destination[];
};

/** A request that was not claimed, because all its recipients are suppressed by now. */
export type CancelledRequest = { readonly request: number; readonly recipients: number };

/** Nothing is left to claim when both are empty. */
export type Claim = {
  readonly claimed: readonly ClaimedRequest[];
  readonly cancelled: readonly CancelledRequest[];
  /** One claimed request for each commit that claimed some. */
  readonly witnesses: readonly ClaimedRequest[];
};

/** What is to be claimed of a slice. */
export type SliceClaim = SliceRange & {
  readonly owner: string;
  /** Where in the slice to begin: what is before it is not planned. */
  readonly from: number;
  readonly limit: number;
};
