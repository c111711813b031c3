import type { AccountShare } from '../../domain/account-sharing.ts';
import type { RequestState } from '../../domain/runs.ts';
import { batchOf } from '../batch.ts';
import type { RequestKey } from '../requests/by-message-id.ts';
import type { Delivery, RawReport } from './report-content.ts';

export type RecipientKey = RequestKey & { readonly position: number };

export type MatchedRecipient = RecipientKey & {
  readonly state: RequestState;
  /** Whether the report proves that the service accepted the request. */
  readonly isProof: boolean;
  /** Its run is purged: nothing that names the recipient is stored. */
  readonly isPurged: boolean;
};

/** What identifies the recipient of a delivery report. */
export type ReportSubject = Pick<RawReport, 'account' | 'receivedAt'> &
  Pick<Delivery, 'messageId' | 'jobNumber' | 'address'>;

/** Requests of any account by the MessageIDs that delivery reports name. */
export type NamedRequests = ReadonlyMap<string, RequestKey>;

export function findNamedRequest(
  { messageId }: Pick<ReportSubject, 'messageId'>,
  requests: NamedRequests,
): RequestKey | undefined {
  return messageId === null ? undefined : requests.get(messageId);
}

/**
 * SQL: whether a report for one account may concern a message of another: the same, or one with the same webhook.
 *
 * @param accounts SQL parameter (text[]) of accounts that share a webhook; `of` of the webhooks' accounts
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
