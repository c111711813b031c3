import type { AccountShare } from '../../domain/account-sharing.ts';
import type { RequestState } from '../../domain/runs.ts';
import { batchOf } from '../batch.ts';
import type { RequestKey } from '../requests/by-message-id.ts';
import type { Delivery, RawReport } from './report-content.ts';

export type RecipientKey = RequestKey & { readonly position: number };

export type MatchedRecipient = RecipientKey & {
  readonly state: RequestState;
  /** Whether the report is about this very request, so that it proves that the service has it. */
  readonly isProof: boolean;
};

/** By what a report says which message and recipient it is about. */
export type ReportSubject = Pick<RawReport, 'account' | 'receivedAt'> &
  Pick<Delivery, 'messageId' | 'jobNumber' | 'address'>;

/** The requests that reports name, by their MessageIDs; of whatever account. */
export type NamedRequests = ReadonlyMap<string, RequestKey>;

export function findNamedRequest(
  { messageId }: Pick<ReportSubject, 'messageId'>,
  requests: NamedRequests,
): RequestKey | undefined {
  return messageId === null ? undefined : requests.get(messageId);
}

/**
 * SQL: whether a report that came for an account may be about a message of a run's account: the same one, or one whose
 * reports come to the same webhook.
 *
 * @param accounts SQL of the parameter that has the accounts of the latter kind, text[]; `of` those whose webhook it is
 */
export function mayConcern(ofRun: string, ofReport: string, accounts: string, of: string): string {
  return `(${ofRun} = ${ofReport} OR (${ofRun}, ${ofReport}) IN (SELECT * FROM unnest(${accounts}::text[], ${of}::text[])))`;
}

export function sharedColumns(shared: readonly AccountShare[]): [string[], string[]] {
  return [shared.map(({ account }) => account), shared.map(({ source }) => source)];
}

export function recipientKey({ run, request, position }: RecipientKey): string {
  return `${run} ${request} ${position}`;
}

export const recipientKeys = batchOf<RecipientKey>({
  run_id: ['text', ({ run }) => run],
  request: ['integer', ({ request }) => request],
  position: ['integer', ({ position }) => position],
});
