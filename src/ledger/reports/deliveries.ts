import type pg from 'pg';
import type { DeliveryOutcome, ReportState } from '../../domain/reports.ts';
import { keepDeliveries } from './keep.ts';
import { findRecipients } from './match.ts';
import { type MatchedRecipient, recipientKey } from './matched.ts';
import { proveAccepted } from './prove.ts';
import type { ReadReport } from './reading.ts';
import { withdrawOutcomes } from './withdraw.ts';

type Matched = { readonly reading: ReadReport<'delivery'>; readonly recipient: MatchedRecipient };

/** What became of a recipient, and the report that decided. */
type Decided = { readonly outcome: DeliveryOutcome; readonly report: string | null };

/**
 * The first final outcome of a recipient stays: a second one that is equal may add a price or units that the first did
 * not have, and a different one is kept as `conflicting`. A report that is read again corrects what it said itself, and takes
 * it back where it is not final now. A report for a recipient that was left out of its request is about a message that was never sent: it matches nothing and
 * proves nothing.
 *
 * @returns the reports whose recipient is not known
 */
export async function applyDeliveries(
  client: pg.ClientBase,
  deliveries: readonly ReadReport<'delivery'>[],
  now: Date,
): Promise<ReadonlySet<string>> {
  if (deliveries.length === 0) return new Set();
  const recipients = await findRecipients(client, deliveries);
  const matched = deliveries.flatMap((reading, place): Matched[] => {
    const recipient = recipients.get(place);
    return recipient ? [{ reading, recipient }] : [];
  });
  const undecided = deliveries.filter(
    ({ outcome }, place) => outcome === 'pending' || !recipients.has(place),
  );
  await withdrawOutcomes(
    client,
    undecided.map(({ report }) => report),
    now,
  );
  const decided = await decideAll(client, matched);
  await proveAccepted(
    client,
    matched.map(({ recipient }) => recipient),
  );
  const kept = deliveries.map((reading, place) => {
    const recipient = recipients.get(place);
    const state = recipient ? stateOf(reading, decided.get(recipientKey(recipient))) : ('unmatched' as const);
    return { reading, recipient, state };
  });
  await keepDeliveries(client, kept);
  return new Set(kept.flatMap(({ reading, recipient }) => (recipient ? [] : [reading.report])));
}

function stateOf({ report, outcome }: ReadReport<'delivery'>, decided: Decided | undefined): ReportState {
  if (decided?.report === report) return 'applied';
  if (decided && outcome !== 'pending' && outcome !== decided.outcome) return 'conflicting';
  return 'unchanged';
}

/** What becomes of each recipient; where it was known before, what equal reports add to it. */
async function decideAll(
  client: pg.ClientBase,
  matched: readonly Matched[],
): Promise<ReadonlyMap<string, Decided>> {
  const final = Map.groupBy(
    matched.filter(({ reading }) => reading.outcome !== 'pending'),
    ({ recipient }) => recipientKey(recipient),
  );
  const first = new Map([...final].map(([key, reports]) => [key, completed(firstOf(reports), reports)]));
  const decided = await decide(client, [...first.values()]);
  // Where an earlier report had decided otherwise, one of these may still be its repetition.
  const repeated = [...final].flatMap(([key, reports]) => {
    const outcome = decided.get(key)?.outcome;
    if (outcome === first.get(key)?.reading.outcome) return [];
    const repetition = reports.find(({ reading }) => reading.outcome === outcome);
    return repetition ? [completed(repetition, reports)] : [];
  });
  await decide(client, repeated);
  return decided;
}

/** The first report, unless the one that decided earlier is read again. */
function firstOf(reports: readonly Matched[]): Matched {
  const [first] = reports;
  if (first === undefined) throw new Error('a group has somebody');
  return reports.find(({ reading, recipient }) => recipient.decidedBy === reading.report) ?? first;
}

/** With the units and the price that equal reports have, where it has none itself. */
function completed({ reading, recipient }: Matched, reports: readonly Matched[]): Matched {
  const equal = reports.map((each) => each.reading).filter(({ outcome }) => outcome === reading.outcome);
  const units = reading.units ?? equal.find((each) => each.units !== null)?.units ?? null;
  const price = reading.price ?? equal.find((each) => each.price !== null)?.price ?? null;
  return { reading: { ...reading, units, price }, recipient };
}

type DbDecided = {
  readonly run_id: string;
  readonly request: number;
  readonly position: number;
  readonly outcome: DeliveryOutcome;
  readonly report_id: string | null;
};

/** In the order of the key, so that two that write the same recipients wait for each other, not crosswise. */
async function decide(
  client: pg.ClientBase,
  deciding: readonly Matched[],
): Promise<ReadonlyMap<string, Decided>> {
  if (deciding.length === 0) return new Map();
  const { rows } = await client.query<DbDecided>({
    name: 'decide-outcomes',
    text: `
    INSERT INTO recipient_outcomes AS o
      (run_id, request, position, outcome, result, units, price, reported_at, report_id)
    SELECT *
    FROM unnest($1::text[], $2::integer[], $3::integer[], $4::text[], $5::text[], $6::numeric[], $7::numeric[],
                $8::timestamptz[], $9::bigint[])
      AS d (run_id, request, position, outcome, result, units, price, reported_at, report_id)
    ORDER BY run_id, request, position
    ON CONFLICT (run_id, request, position) DO UPDATE
    SET outcome = CASE WHEN o.report_id = excluded.report_id THEN excluded.outcome ELSE o.outcome END,
        result = CASE WHEN o.report_id = excluded.report_id THEN excluded.result ELSE o.result END,
        units = CASE WHEN o.report_id = excluded.report_id AND o.outcome <> excluded.outcome THEN excluded.units
                     WHEN o.report_id = excluded.report_id THEN coalesce(excluded.units, o.units)
                     WHEN o.outcome = excluded.outcome THEN coalesce(o.units, excluded.units)
                     ELSE o.units END,
        price = CASE WHEN o.report_id = excluded.report_id AND o.outcome <> excluded.outcome THEN excluded.price
                     WHEN o.report_id = excluded.report_id THEN coalesce(excluded.price, o.price)
                     WHEN o.outcome = excluded.outcome THEN coalesce(o.price, excluded.price)
                     ELSE o.price END
    WHERE o.outcome <> 'cancelled'
    RETURNING run_id, request, position, outcome, report_id
    `,
    values: [
      deciding.map(({ recipient }) => recipient.run),
      deciding.map(({ recipient }) => recipient.request),
      deciding.map(({ recipient }) => recipient.position),
      deciding.map(({ reading }) => reading.outcome),
      deciding.map(({ reading }) => reading.result),
      deciding.map(({ reading }) => reading.units),
      deciding.map(({ reading }) => reading.price),
      deciding.map(({ reading }) => reading.receivedAt),
      deciding.map(({ reading }) => reading.report),
    ],
  });
  return new Map(
    rows.map(({ run_id, request, position, outcome, report_id }) => [
      recipientKey({ run: run_id, request, position }),
      { outcome, report: report_id },
    ]),
  );
}
