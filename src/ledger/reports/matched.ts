import type { RequestState } from '../../domain/runs.ts';
import type { Delivery, InboxReport } from './reading.ts';

/** What a recipient is known by in the ledger. */
export type RecipientKey = {
  readonly run: string;
  readonly request: number;
  readonly position: number;
};

/** The recipient that a report is about. */
export type MatchedRecipient = RecipientKey & {
  /** Of the request. */
  readonly state: RequestState;
  /** Whether the report is about this very request, so that it proves that the service has it. */
  readonly isProof: boolean;
};

/** By what a report says which message and recipient it is about; only messages of its own account are. */
export type ReportName = Pick<InboxReport, 'account' | 'receivedAt'> &
  Pick<Delivery, 'messageId' | 'jobNumber' | 'address'>;

export function recipientKey({ run, request, position }: RecipientKey): string {
  return `${run} ${request} ${position}`;
}
