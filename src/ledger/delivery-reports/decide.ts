import { batchOf, toArrayParameter } from '../batch.ts';
import { recordOutcomeChanges } from '../billing/changes.ts';
import type { Transaction } from '../session.ts';
import { addRowsOfDecidingReports } from './ordinary-report-rows.ts';
import { unfoldOutcomes } from './outcome-blocks.ts';
import {
  type MatchedRecipient,
  type ParsedReport,
  type RecipientKey,
  recipientKey,
  recipientKeys,
} from './report-content.ts';

type FinalReport = { readonly reading: ParsedReport<'delivery'>; readonly recipient: MatchedRecipient };

/**
 * Decides outcomes: the first final report to arrive wins, whatever the order and number of appliers. A later one may
 * add a price or units to the same outcome; another outcome is `conflicting`. Without a final report the outcome is
 * deleted.
 *
 * The reports must be stored already: an applier locks the outcome, then sees all reports that others stored before.
 *
 * @param deliveries in order of arrival
 * @param before recipients of earlier readings of these reports; locked
 */
export async function decideOutcomes(
  client: Transaction,
  deliveries: readonly ParsedReport<'delivery'>[],
  recipients: ReadonlyMap<string, MatchedRecipient>,
  before: readonly RecipientKey[],
): Promise<void> {
  const final = deliveries.flatMap((reading): FinalReport[] => {
    const recipient = recipients.get(reading.report);
    return recipient && reading.outcome !== 'pending' ? [{ reading, recipient }] : [];
  });
  const groups = Map.groupBy(final, ({ recipient }) => recipientKey(recipient));
  const earliest = [...groups.values()].flatMap((group) => group.slice(0, 1));
  const decided = await insertFirstOutcomes(client, earliest);
  const contested = earliest.filter(({ recipient }) => {
    const key = recipientKey(recipient);
    return !decided.has(key) || (groups.get(key)?.length ?? 0) > 1;
  });
  await redecideOutcomes(
    client,
    [...contested.map(({ recipient }) => recipient), ...before],
    final.map(({ reading }) => reading.report),
  );
}

/** Lists recipients of earlier readings of these reports, except those of purged runs. */
export async function listEarlierRecipients(
  client: Transaction,
  reports: readonly string[],
): Promise<RecipientKey[]> {
  // Not prepared: a plan made for small tables would scan large ones.
  const { rows } = await client.query<RecipientKey>(
    `
    SELECT DISTINCT k.run_id AS run, k.request, k.position
    FROM unusual_delivery_reports k
    JOIN runs r ON r.run_id = k.run_id AND r.purged_at IS NULL
    WHERE k.report_id = ANY ($1::bigint[]) AND k.outcome IN ('delivered', 'undelivered') AND k.position IS NOT NULL
    `,
    [reports],
  );
  return rows;
}

const firstOutcomes = batchOf<FinalReport>({
  run_id: ['text', ({ recipient }) => recipient.run],
  request: ['integer', ({ recipient }) => recipient.request],
  position: ['integer', ({ recipient }) => recipient.position],
  outcome: ['text', ({ reading }) => reading.outcome],
  result: ['text', ({ reading, recipient }) => (recipient.isPurged ? null : reading.result)],
  units: ['numeric', ({ reading }) => reading.units],
  price: ['numeric', ({ reading }) => reading.price],
  reported_at: ['timestamptz', ({ reading }) => reading.receivedAt],
  report_id: ['bigint', ({ reading }) => reading.report],
});

/**
 * Inserts missing outcomes in key order, to avoid deadlocks. Locks existing ones.
 *
 * @returns keys of the inserted outcomes
 */
async function insertFirstOutcomes(
  client: Transaction,
  deciding: readonly FinalReport[],
): Promise<ReadonlySet<string>> {
  if (deciding.length === 0) return new Set();
  const { rows } = await client.query<RecipientKey>({
    name: 'decide-outcomes',
    text: `
    WITH decided AS (
      INSERT INTO recipient_outcomes AS o
        (${firstOutcomes.columns})
      SELECT *
      FROM ${firstOutcomes.table('d')}
      ORDER BY run_id, request, position
      -- Locks the row without changing it.
      ON CONFLICT (run_id, request, position) DO UPDATE SET report_id = o.report_id WHERE false
      RETURNING *
    ), recorded AS (${recordOutcomeChanges('SELECT 1 AS sign, * FROM decided')}
    )
    SELECT run_id AS run, request, position FROM decided
    `,
    values: firstOutcomes.values(deciding).map(toArrayParameter),
  });
  return new Set(rows.map(recipientKey));
}

/**
 * Locks existing outcomes in key order, and gives folded ones their rows. Call this before storing reports that were read
 * earlier: an applier that decides an outcome also updates its reports, so two appliers would deadlock.
 */
export async function lockOutcomes(client: Transaction, recipients: readonly RecipientKey[]): Promise<void> {
  if (recipients.length === 0) return;
  await client.query(
    `
    SELECT
    FROM recipient_outcomes
    WHERE (run_id, request, position) IN (SELECT * FROM ${recipientKeys.table('k')})
    ORDER BY run_id, request, position
    FOR UPDATE
    `,
    recipientKeys.values(recipients),
  );
  // After the lock: a locked outcome is not folded.
  await unfoldOutcomes(client, recipients);
}

/** Limits the final reports read for a recipient: the service may send any number. */
const maxReports = 100;

/** SQL of `WITH` clauses that end with `decision`: what each recipient's final reports say. */
const decisionClauses = `
  recipient AS MATERIALIZED (
    SELECT DISTINCT run_id, request, position
    FROM ${recipientKeys.table('r', 2)}
    WHERE NOT EXISTS (
      SELECT FROM recipient_outcomes o
      WHERE o.run_id = r.run_id AND o.request = r.request AND o.position = r.position AND o.outcome = 'cancelled'
    )
  ), final_reports AS MATERIALIZED (
    SELECT r.*, k.report_id, k.outcome, k.result, k.units, k.price, k.received_at,
           first_value(k.report_id) OVER arrival AS decider, first_value(k.outcome) OVER arrival AS decided
    FROM recipient r
    CROSS JOIN LATERAL (
      SELECT *
      FROM unusual_delivery_reports
      WHERE run_id = r.run_id AND request = r.request AND position = r.position
        AND outcome IN ('delivered', 'undelivered')
      ORDER BY report_id
      LIMIT ${maxReports}
    ) k
    WINDOW arrival AS (PARTITION BY r.run_id, r.request, r.position ORDER BY k.report_id)
  ), decision AS MATERIALIZED (
    SELECT run_id, request, position, decider, decided,
           max(result) FILTER (WHERE report_id = decider) AS result,
           max(received_at) FILTER (WHERE report_id = decider) AS received_at,
           (array_agg(units ORDER BY report_id) FILTER (WHERE units IS NOT NULL AND outcome = decided))[1] AS units,
           (array_agg(price ORDER BY report_id) FILTER (WHERE price IS NOT NULL AND outcome = decided))[1] AS price
    FROM final_reports
    GROUP BY run_id, request, position, decider, decided
  )`;

/** SQL of a `WITH` clause: states of all these reports. $1: ids of other reports to update. */
const updateStatesClause = `
  marked AS (
    UPDATE unusual_delivery_reports k
    SET state = m.state
    FROM (
      SELECT s.report_id, CASE WHEN s.report_id = d.decider THEN 'applied'
                               WHEN s.outcome = d.decided THEN 'unchanged'
                               ELSE 'conflicting' END AS state
      FROM (
        SELECT run_id, request, position, report_id, outcome FROM final_reports
        UNION
        SELECT run_id, request, position, report_id, outcome FROM unusual_delivery_reports WHERE report_id = ANY ($1::bigint[])
      ) s
      JOIN decision d USING (run_id, request, position)
    ) m
    WHERE k.report_id = m.report_id AND k.state <> m.state
  )`;

/** SQL of `WITH` clauses that end with `written`: outcomes before, deleted and written. */
const writeOutcomesClauses = `
  before AS MATERIALIZED (
    SELECT o.* FROM recipient r JOIN recipient_outcomes o USING (run_id, request, position)
  ), deleted AS (
    DELETE FROM recipient_outcomes o
    USING recipient r
    WHERE o.run_id = r.run_id AND o.request = r.request AND o.position = r.position
      AND NOT EXISTS (
        SELECT FROM decision d
        WHERE d.run_id = r.run_id AND d.request = r.request AND d.position = r.position
      )
    RETURNING o.*
  ), written AS (
    INSERT INTO recipient_outcomes AS o
      (run_id, request, position, outcome, result, units, price, reported_at, report_id)
    SELECT run_id, request, position, decided, result, units, price, received_at, decider
    FROM decision
    ORDER BY run_id, request, position
    ON CONFLICT (run_id, request, position) DO UPDATE
    SET outcome = excluded.outcome, result = excluded.result, units = excluded.units, price = excluded.price,
        reported_at = excluded.reported_at, report_id = excluded.report_id, status = NULL, job_number = NULL,
        sent_at = NULL
    WHERE o.outcome <> 'cancelled'
      AND (o.outcome, o.result, o.units, o.price, o.report_id)
          IS DISTINCT FROM (excluded.outcome, excluded.result, excluded.units, excluded.price, excluded.report_id)
    RETURNING o.*
  )`;

/** Decides outcomes from all stored reports, and updates the reports' states. */
async function redecideOutcomes(
  client: Transaction,
  recipients: readonly RecipientKey[],
  reports: readonly string[],
): Promise<void> {
  if (recipients.length === 0) return;
  await addRowsOfDecidingReports(client, recipients);
  await client.query(
    `
    WITH ${decisionClauses}, ${updateStatesClause}, ${writeOutcomesClauses}
    ${recordOutcomeChanges(`
      SELECT 1 AS sign, * FROM written
      UNION ALL
      SELECT -1, * FROM deleted
      UNION ALL
      SELECT -1, b.* FROM before b JOIN written w USING (run_id, request, position)`)}
    `,
    [reports, ...recipientKeys.values(recipients)],
  );
}
