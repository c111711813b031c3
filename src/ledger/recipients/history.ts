import type { Envelope, MessageFields } from '../../domain/message.ts';
import type { RequestReason } from '../../domain/reasons.ts';
import type { RecipientState, Resolution } from '../../domain/runs.ts';
import { batchOf } from '../batch.ts';
import { recipientStateOf } from '../counts/run-counts.ts';
import { deliveryReportColumns, type ListedDeliveryReport } from '../delivery-reports/list.ts';
import { recipientKeys } from '../delivery-reports/report-content.ts';
import { requestReason, type Stored } from '../reasons.ts';
import { attemptsOf, recipientsOf, requestOf } from '../request-rows.ts';
import { type RequestKey, requestKeys } from '../requests/by-message-id.ts';
import type { ReadConnection } from '../session.ts';
import {
  type FoundRecipient,
  findRecipients,
  type HistoryRange,
  type RecipientKey,
  type RecipientQuery,
} from './find.ts';

/** All that the ledger knows of a recipient. */
export type RecipientHistory = Omit<FoundRecipient, 'position' | 'requestState' | 'outcome' | 'reason'> & {
  readonly state: RecipientState;
  readonly reason: RequestReason | null;
  readonly attempts: readonly HistoryAttempt[];
  readonly resolutions: readonly HistoryResolution[];
  readonly reports: readonly ListedDeliveryReport[];
};

export type HistoryAttempt = {
  readonly attempt: number;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  readonly verdict: string | null;
  readonly httpStatus: number | null;
  readonly detail: RequestReason | null;
};

export type HistoryResolution = {
  readonly resolvedAt: Date;
  readonly resolution: Resolution;
  readonly by: string;
  readonly reason: string;
};

/**
 * Finds recipients by MessageID, job number (of an answer or a delivery report) or address. The newest run is first.
 */
export async function findRecipientHistories(
  client: ReadConnection,
  wanted: RecipientQuery,
  range: HistoryRange,
): Promise<RecipientHistory[]> {
  const recipients = await findRecipients(client, wanted, range);
  if (recipients.length === 0) return [];
  const keys = requestKeys.values(recipients);
  const attempts = await listAttempts(client, keys);
  const resolutions = await listResolutions(client, keys);
  const reports = await listReports(client, recipientKeys.values(recipients));
  return recipients.map(({ position, requestState, outcome, reason, ...recipient }) => {
    const { run, request } = recipient;
    const ofRequest = (one: RequestKey): boolean => one.run === run && one.request === request;
    return {
      ...recipient,
      reason: requestReason(reason),
      state: outcome ?? recipientStateOf[requestState],
      attempts: attempts.filter(ofRequest).map(({ run, request, detail, ...attempt }) => {
        return { ...attempt, detail: requestReason(detail) };
      }),
      resolutions: resolutions.filter(ofRequest).map(({ run, request, ...resolution }) => resolution),
      reports: reports
        .filter((report) => report.run === run && report.request === request && report.position === position)
        .map(({ request, position, ...report }) => report),
    };
  });
}

type StoredAttempt = Stored<HistoryAttempt, 'detail'> & RequestKey;

async function listAttempts(client: ReadConnection, keys: unknown[]): Promise<StoredAttempt[]> {
  const { rows } = await client.query<StoredAttempt>(
    `
    SELECT a.run_id AS run, a.request, attempt, started_at AS "startedAt", finished_at AS "finishedAt", verdict,
           http_status AS "httpStatus", detail
    FROM (SELECT DISTINCT * FROM ${requestKeys.table('key')}) AS wanted
    CROSS JOIN ${attemptsOf('wanted.run_id', 'wanted.request')} a
    ORDER BY attempt
    `,
    keys,
  );
  return rows;
}

async function listResolutions(
  client: ReadConnection,
  keys: unknown[],
): Promise<(HistoryResolution & RequestKey)[]> {
  const { rows } = await client.query<HistoryResolution & RequestKey>(
    `
    SELECT run_id AS run, request, resolved_at AS "resolvedAt", resolution, resolved_by AS by, reason
    FROM resolutions
    WHERE (run_id, request) IN (SELECT * FROM ${requestKeys.table('wanted')})
    ORDER BY resolved_at
    `,
    keys,
  );
  return rows;
}

type PlacedReport = ListedDeliveryReport & { readonly request: number; readonly position: number };

async function listReports(client: ReadConnection, keys: unknown[]): Promise<PlacedReport[]> {
  const { rows } = await client.query<PlacedReport>(
    `
    SELECT ${deliveryReportColumns}, k.request, k.position
    FROM (SELECT DISTINCT * FROM ${recipientKeys.table('key')}) AS wanted
    CROSS JOIN LATERAL (
      SELECT *
      FROM delivery_reports_between(wanted.run_id, wanted.request, wanted.request) r
      WHERE r.position = wanted.position
      OFFSET 0
    ) k
    ORDER BY k.report_id
    `,
    keys,
  );
  return rows;
}

/** What a request says to one recipient, as stored. All are empty after a purge. */
export type StoredMessage = RecipientKey &
  Envelope & {
    /** Destination fields other than Recipient. */
    readonly destination: MessageFields;
  };

type PlacedRecipient = RequestKey & Pick<FoundRecipient, 'row'>;

const placedRecipients = batchOf<PlacedRecipient>({
  run: ['text', ({ run }) => run],
  request: ['integer', ({ request }) => request],
  row: ['integer', ({ row }) => row],
});

/** Lists the messages to recipients, in any order. */
export async function listMessages(
  client: ReadConnection,
  recipients: readonly PlacedRecipient[],
): Promise<StoredMessage[]> {
  const { rows } = await client.query<StoredMessage>(
    `
    SELECT r.run_id AS run, r.line AS row, e.fields, e.keypads, e.files, e.audio,
           coalesce(CAST(k.destinations AS json) -> (r.position - 1), '{}') AS destination
    FROM ${placedRecipients.table('wanted')}
    CROSS JOIN ${requestOf('wanted.run', 'wanted.request')} q
    JOIN envelopes e ON e.run_id = q.run_id AND e.envelope = q.envelope
    JOIN ${recipientsOf('wanted.run', 'wanted.request')} r ON r.line = wanted.row
    LEFT JOIN LATERAL chunks_between(wanted.run, wanted.request, wanted.request) k ON true
    `,
    placedRecipients.values(recipients),
  );
  return rows;
}
