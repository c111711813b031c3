import type { ContactNote } from '../../domain/contact-notes.ts';
import type { Envelope, MessageFields } from '../../domain/message.ts';
import type { CostTotal } from '../../domain/rate-card.ts';
import type { RejectedContactRecord } from '../../domain/rejected-contacts.ts';
import { streamRows } from '../cursor.ts';
import { rejectionDetail, type Stored } from '../reasons.ts';
import { rejectionDetailOf, stagedRejections } from '../runs/rejected-contacts.ts';
import type { Transaction } from '../session.ts';
import type { PlanRules } from './planned-run.ts';
import { pathsOfOther } from './staging-tables.ts';

/** What a plan shows of decided contacts. Lines count on from file to file. */

const batchSize = 5_000;

export type NotedContact = {
  readonly line: number;
  /** Null: the run has one tariff. */
  readonly tariffIndex: number | null;
  readonly note: ContactNote;
};

/** Streams the notes of contacts that are sent, in file order. */
export function streamNotes(client: Transaction): AsyncIterable<readonly NotedContact[]> {
  const sql = `
    SELECT line, tariff AS "tariffIndex", note
    FROM staged_notes
    JOIN staged_contacts USING (line)
    ORDER BY line
  `;
  return streamRows<NotedContact>(client, 'notes', { sql, values: [] }, batchSize);
}

/** A contact that is sent. */
export type SentContact = {
  readonly line: number;
  readonly address: string;
  readonly destination: MessageFields;
  readonly envelope: Envelope;
  /** Comma-separated; null without a window. */
  readonly zones: string | null;
  /** The number of its variant; null: the campaign has none. */
  readonly variant: number | null;
  /** Null: no page shows the row. */
  readonly row: ContactNote['row'] | null;
  /** Of all that are sent. */
  readonly isFirst: boolean;
};

const sentColumns = `
  s.line, s.address, CAST(s.destination AS json) AS destination, e.zones, e.variant,
  json_build_object(
    'fields', CAST(e.fields AS json),
    'keypads', coalesce(CAST(e.other_fields AS json) -> 'keypads', '[]'),
    'files', coalesce(CAST(e.other_fields AS json) -> 'files', '[]'),
    'audio', coalesce(CAST(e.other_fields AS json) -> 'audio', '{}')
  ) AS envelope,
  s.line = (SELECT min(line) FROM staged_contacts) AS "isFirst"
`;

/** In file order. @param skipped so many before them */
export async function listSent(client: Transaction, limit: number, skipped = 0): Promise<SentContact[]> {
  const { rows } = await client.query<SentContact>(
    `
    SELECT ${sentColumns}, NULL AS row
    FROM (SELECT * FROM staged_contacts ORDER BY line LIMIT $1 OFFSET $2) s
    JOIN staged_envelopes e USING (envelope)
    ORDER BY s.line
    `,
    [limit, skipped],
  );
  return rows;
}

/** The first contact of each variant. */
export async function listFirstOfVariants(client: Transaction): Promise<SentContact[]> {
  const { rows } = await client.query<SentContact>(`
    SELECT ${sentColumns}, NULL AS row
    FROM (SELECT min(line) AS line FROM staged_contacts JOIN staged_envelopes USING (envelope) GROUP BY variant) f
    JOIN staged_contacts s USING (line)
    JOIN staged_envelopes e USING (envelope)
    ORDER BY e.variant
  `);
  return rows;
}

/** What a variant sends. */
export type VariantTotals = {
  readonly variant: number;
  readonly requests: number;
  readonly totals: readonly CostTotal[];
};

export async function listVariantTotals(client: Transaction): Promise<VariantTotals[]> {
  const { rows } = await client.query<VariantTotals>(`
    SELECT variant, (SELECT sum(requests)::integer FROM sized_envelopes z WHERE z.variant = t.variant) AS requests,
           json_agg(json_build_object(
             'subAccount', sub_account, 'chargeCode', charge_code, 'tariffIndex', tariff, 'recipients', recipients,
             'parts', parts, 'example', NULL
           )) AS totals
    FROM (
      SELECT e.variant, e.sub_account, e.charge_code, coalesce(s.tariff, 0) AS tariff, count(*) AS recipients,
             sum(s.parts) AS parts
      FROM staged_contacts s
      JOIN staged_envelopes e USING (envelope)
      GROUP BY 1, 2, 3, 4
    ) t
    GROUP BY variant
    ORDER BY variant
  `);
  return rows;
}

export async function countControlGroup(client: Transaction): Promise<number> {
  const { rows } = await client.query<{ contacts: number }>(
    `SELECT count(*)::integer AS contacts FROM left_out WHERE kind = 'control_group'`,
  );
  return rows[0]?.contacts ?? 0;
}

/** A digest of the lines of all contacts that are sent. */
export async function digestSentLines(client: Transaction): Promise<string> {
  const { rows } = await client.query<{ sha256: string }>(`
    SELECT encode(sha256(convert_to(coalesce(string_agg(line::text, ',' ORDER BY line), ''), 'UTF8')), 'hex') AS sha256
    FROM staged_contacts
  `);
  return rows[0]?.sha256 ?? '';
}

/** Streams the contacts that are sent and whose note has a row, in file order. */
export function streamSentRows(client: Transaction): AsyncIterable<readonly SentContact[]> {
  const sql = `
    SELECT ${sentColumns}, n.note -> 'row' AS row
    FROM staged_notes n
    JOIN staged_contacts s USING (line)
    JOIN staged_envelopes e USING (envelope)
    WHERE n.note -> 'row' IS NOT NULL
    ORDER BY line
  `;
  return streamRows<SentContact>(client, 'sent_rows', { sql, values: [] }, batchSize);
}

/** `line` counts on from file to file. */
export type RejectedLine = Omit<RejectedContactRecord, 'file'> & { readonly row: ContactNote['row'] | null };

/** @param noted only those whose note has a row */
export async function listRejected(
  client: Transaction,
  { channel, identity }: Pick<PlanRules, 'channel' | 'identity'>,
  { limit, noted }: { readonly limit: number | null; readonly noted: boolean },
): Promise<RejectedLine[]> {
  const { rows } = await client.query<Stored<RejectedLine, 'detail'>>(
    `
    SELECT r.line, r.column_name AS "column", r.reason, ${rejectionDetailOf('r', '$1::text', '$2::jsonb')} AS detail,
           n.note -> 'row' AS row
    FROM (${stagedRejections}) r
    LEFT JOIN staged_notes n USING (line)
    WHERE NOT $3 OR n.note -> 'row' IS NOT NULL
    ORDER BY r.line
    LIMIT $4
    `,
    [channel, JSON.stringify(identity.key), noted, limit],
  );
  return rows.map((row) => ({ ...row, detail: rejectionDetail(row.detail) }));
}

/** The first contacts of each reason and column that are left out. @param count so many of each */
export async function listLeftOut(
  client: Transaction,
  { channel, identity }: Pick<PlanRules, 'channel' | 'identity'>,
  count: number,
): Promise<(Omit<RejectedLine, 'row'> & { readonly ofReason: number })[]> {
  const { rows } = await client.query<Stored<Omit<RejectedLine, 'row'> & { ofReason: number }, 'detail'>>(
    `
    SELECT line, column_name AS "column", reason, ${rejectionDetailOf('r', '$1::text', '$2::jsonb')} AS detail, "ofReason"
    FROM (
      SELECT *, row_number() OVER (PARTITION BY reason, column_name ORDER BY line) AS rank,
             CAST(count(*) OVER (PARTITION BY reason, column_name) AS integer) AS "ofReason"
      FROM (${stagedRejections}) each
    ) r
    WHERE rank <= $3
    ORDER BY "ofReason" DESC, reason, column_name, line
    `,
    [channel, JSON.stringify(identity.key), count],
  );
  return rows.map((row) => ({ ...row, detail: rejectionDetail(row.detail) }));
}

/** Names of fields of requests, with `Files` and `Keypads`, and of their recipients. */
export type FieldNames = { readonly request: readonly string[]; readonly recipient: readonly string[] };

/** Finds those of these fields that are sent, mostly with the first contact that is looked at. */
export async function findSentFields(
  client: Transaction,
  { request, recipient }: FieldNames,
): Promise<FieldNames> {
  const { rows } = await client.query<FieldNames>(
    `
    SELECT ARRAY(
             SELECT name
             FROM unnest($1::text[]) AS name
             WHERE EXISTS (
               SELECT
               FROM sized_envelopes z
               JOIN staged_envelopes e ON e.envelope = z.staged
               WHERE CAST(e.fields AS jsonb) ? name
                 OR CAST(e.other_fields AS jsonb) -> 'audio' ? name
                 OR (CAST(e.other_fields AS jsonb) -> lower(name)) NOT IN ('[]', '{}')
               OFFSET 0
             )
           ) AS request,
           ARRAY(
             SELECT name
             FROM unnest($2::text[]) AS name
             WHERE EXISTS (SELECT FROM staged_contacts WHERE CAST(destination AS jsonb) ? name OFFSET 0)
           ) AS recipient
    `,
    [request, recipient],
  );
  return rows[0] ?? { request: [], recipient: [] };
}

/** Lists the paths of all files that are sent. */
export async function listSentFiles(client: Transaction): Promise<string[]> {
  const { rows } = await client.query<{ path: string }>(`
    WITH other AS (
      SELECT CAST(other_fields AS jsonb) AS fields
      FROM staged_envelopes
      WHERE other_fields IS NOT NULL AND envelope IN (SELECT staged FROM sized_envelopes)
    )
    ${pathsOfOther}
  `);
  return rows.map(({ path }) => path);
}
