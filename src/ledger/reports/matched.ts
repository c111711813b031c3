import type { RequestState } from '../../domain/runs.ts';
import type { Delivery, InboxReport } from './reading.ts';

/** Whom a report is about. */
export type MatchedRecipient = {
  readonly run: string;
  readonly request: number;
  readonly position: number;
  /** Of the request. */
  readonly state: RequestState;
  /** The report that decided what became of the recipient; null where none has, or nobody knows which. */
  readonly decidedBy: string | null;
  /** Whether the report is about this very request, so that it proves that the service has it. */
  readonly isProof: boolean;
};

/** By what a report says whom it is about. */
export type ReportName = Pick<InboxReport, 'account' | 'receivedAt'> &
  Pick<Delivery, 'messageId' | 'jobNumber' | 'address'>;

export function recipientKey({
  run,
  request,
  position,
}: Pick<MatchedRecipient, 'run' | 'request' | 'position'>): string {
  return `${run} ${request} ${position}`;
}
