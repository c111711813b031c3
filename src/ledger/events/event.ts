import type { DeliveryOutcome, DeliveryReportState } from '../../domain/delivery-reports.ts';
import type { RequestReason, RunReason } from '../../domain/reasons.ts';
import type { RequestState, Resolution, RunState } from '../../domain/runs.ts';

/** Something that happened to a run, and when. */
export type RunEvent = { readonly at: Date } & (
  | StateChange
  | AcceptedRequests
  | AttemptEnd
  | SettledRequest
  | ResolvedRequests
  | ReceivedReport
);

export type StateChange = {
  readonly kind: 'state';
  readonly run: string;
  readonly state: RunState;
  readonly reason: RunReason | null;
};

/** Ordinary requests that were accepted by their first attempts, as they were recorded together. */
export type AcceptedRequests = {
  readonly kind: 'accepted';
  readonly run: string;
  readonly requests: readonly number[];
  /** Each that occurs. */
  readonly httpStatuses: readonly number[];
  /** Milliseconds of the shortest and longest attempt. */
  readonly took: readonly [number, number];
  /** The service's numbers of the requests that have one. */
  readonly jobNumbers: readonly string[];
};

/** The end of an attempt of a request that is not ordinary. */
export type AttemptEnd = {
  readonly kind: 'attempt';
  readonly run: string;
  readonly request: number;
  readonly messageId: string;
  readonly attempt: number;
  readonly verdict: string;
  readonly httpStatus: number | null;
  readonly reason: RequestReason | null;
};

/** A request that was settled otherwise than by an answer. */
export type SettledRequest = {
  readonly kind: 'settled';
  readonly run: string;
  readonly request: number;
  readonly messageId: string;
  readonly state: RequestState;
  readonly reason: RequestReason | null;
};

export type ResolvedRequests = {
  readonly kind: 'resolved';
  readonly run: string;
  readonly requests: readonly number[];
  readonly resolution: Resolution;
  readonly by: string;
  readonly words: string;
};

/** A delivery report or a reply, after it was read. */
export type ReceivedReport = {
  readonly kind: 'report';
  readonly report: number;
  /** Null: it belongs to no request. */
  readonly run: string | null;
  readonly request: number | null;
  readonly position: number | null;
  readonly messageId: string | null;
  readonly state: DeliveryReportState;
  readonly outcome: DeliveryOutcome | 'pending' | null;
  /** In the service's words. */
  readonly status: string | null;
  readonly result: string | null;
  /** Null unless it was asked for. */
  readonly address: string | null;
};
