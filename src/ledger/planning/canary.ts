import type { CanarySize } from '../../domain/decisions.ts';
import type { Transaction } from '../session.ts';
import { destinationOf } from '../watch/destinations.ts';

/** What goes first; the rest waits until the run is promoted. */
export type CanaryRule = { readonly campaign: string; readonly size: CanarySize };

/** What a plan says of it. */
export type PlannedCanary = {
  readonly recipients: number;
  readonly requests: number;
  /** The numbers of its requests, in each window. */
  readonly ranges: readonly { readonly first: number; readonly last: number }[];
};

/** Numbers of envelopes are positive, and a copy for the canary is this much less: it comes before all others. */
const canaryEnvelope = -2_000_000_000;

/** SQL: the envelope that one of the canary is a copy of. */
export const copiedBy = (envelope: string): string => `${envelope} - ${canaryEnvelope}`;

/** SQL: whether an envelope is the canary's. */
export const isCanary = (envelope: string): string => `${envelope} < 0`;

/**
 * Gives a part of the staged contacts envelopes of their own, which are numbered first. In the order of SubAccount,
 * ChargeCode and destination, every n-th contact is selected, so each has its share. Among the contacts of one, a hash of
 * campaign and address decides. The same contacts are selected again, in a plan and its run.
 *
 * A canary as large as the list would leave nothing that waits for it, so there is none.
 */
export async function selectCanary(client: Transaction, { campaign, size }: CanaryRule): Promise<void> {
  await client.query(
    `
    WITH size AS MATERIALIZED (
      SELECT staged, coalesce($3::bigint, ceil(staged * $2::numeric)::bigint) AS selected
      FROM (SELECT count(*) AS staged FROM staged_contacts) counted
    ), selected AS MATERIALIZED (
      SELECT contact
      FROM (
        SELECT s.ctid AS contact,
               row_number() OVER (
                 -- Of a million, a sort by the texts takes two to three times as long. Equal hashes only mix two groups.
                 ORDER BY e.payer | ((CAST(hashtext(${destinationOf('s.address')}) AS bigint) & 16383) << 20)
                            | (hashtextextended(s.address, hashtextextended($1::text, 0)) & 1048575),
                          s.line
               ) AS place
        FROM staged_contacts s
        JOIN (
          SELECT envelope, ((CAST(hashtext(coalesce(sub_account, '')) AS bigint) & 16383) << 49)
                             | ((CAST(hashtext(coalesce(charge_code, '')) AS bigint) & 32767) << 34) AS payer
          FROM staged_envelopes
        ) e USING (envelope)
      ) ordered, size
      -- The middle one of each n contacts.
      WHERE selected < staged
        AND (2 * place * selected + staged) / (2 * staged) > (2 * (place - 1) * selected + staged) / (2 * staged)
    ), moved AS (
      UPDATE staged_contacts
      SET envelope = $4::integer + envelope
      WHERE ctid = ANY (ARRAY(SELECT contact FROM selected))
      RETURNING envelope
    )
    INSERT INTO staged_envelopes (envelope, sub_account, department, charge_code, zones, fields, other_fields, maybe_repeated,
                                  variant)
    SELECT c.envelope, e.sub_account, e.department, e.charge_code, e.zones, e.fields, e.other_fields, e.maybe_repeated,
           e.variant
    FROM (SELECT DISTINCT envelope FROM moved) c
    JOIN staged_envelopes e ON e.envelope = c.envelope - $4::integer
    `,
    [
      campaign,
      size.kind === 'share' ? size.share : null,
      size.kind === 'number' ? size.recipients : null,
      canaryEnvelope,
    ],
  );
}

/** @returns null: there is none */
export async function readPlannedCanary(client: Transaction): Promise<PlannedCanary | null> {
  const { rows } = await client.query<PlannedCanary>(`
    SELECT coalesce(sum(recipients), 0)::integer AS recipients, coalesce(sum(requests), 0)::integer AS requests,
           coalesce(json_agg(json_build_object('first', first, 'last', last) ORDER BY first), '[]') AS ranges
    FROM (
      SELECT sum(recipients) AS recipients, sum(requests) AS requests, min(requests_before) + 1 AS first,
             max(requests_before + requests) AS last
      FROM sized_envelopes
      WHERE ${isCanary('staged')}
      GROUP BY window_index
    ) part
  `);
  const [canary] = rows;
  return canary && canary.requests > 0 ? canary : null;
}
