import { batchOf } from '../batch.ts';
import type { Transaction } from '../session.ts';

/** The window of recipients in some time zones, at planning time. */
export type PlannedWindow = {
  /** Null: open, or handed over to the service. */
  readonly opensAt: Date | null;
  /** Null: closed, or open without end. */
  readonly closesAt: Date | null;
  /** The time and fields of a handover to the service; null: none. */
  readonly handover: {
    readonly at: Date;
    readonly fields: Readonly<Record<'SendTime' | 'TimeZone', string>>;
  } | null;
};

const planned = batchOf<PlannedWindow & { readonly zones: string }>({
  zones: ['text', ({ zones }) => zones],
  opens_at: ['timestamptz', ({ opensAt }) => opensAt],
  closes_at: ['timestamptz', ({ closesAt }) => closesAt],
  send_at: ['timestamptz', ({ handover }) => handover?.at ?? null],
  fields: ['jsonb', ({ handover }) => JSON.stringify(handover?.fields ?? {})],
});

/** @param zones IANA names */
export type PlanWindow = (zones: readonly string[]) => PlannedWindow;

/** Numbers the windows of staged contacts by opening, then closing time: a run's first requests can be sent first. */
export async function numberWindows(client: Transaction, plan: PlanWindow | undefined): Promise<void> {
  if (!plan) return;
  const { rows } = await client.query<{ zones: string }>(
    `
    SELECT zones
    FROM staged_envelopes e
    WHERE zones IS NOT NULL AND EXISTS (SELECT FROM staged_contacts s WHERE s.envelope = e.envelope)
    GROUP BY zones
    ORDER BY min(envelope)
    `,
  );
  const never = Number.POSITIVE_INFINITY;
  const windows = rows
    .map(({ zones }) => ({ zones, ...plan(zones.split(',')) }))
    .sort(
      (one, other) =>
        (one.opensAt?.getTime() ?? 0) - (other.opensAt?.getTime() ?? 0) ||
        compare(one.closesAt?.getTime() ?? never, other.closesAt?.getTime() ?? never),
    );
  await client.query(
    `
    INSERT INTO staged_windows (${planned.columns}, window_index)
    SELECT * FROM ${planned.table('planned', 1, 'window_index')}
    `,
    planned.values(windows),
  );
}

function compare(one: number, other: number): number {
  return one === other ? 0 : one - other;
}

export async function insertWindows(client: Transaction, run: string): Promise<void> {
  await client.query(
    `
    INSERT INTO run_windows (run_id, window_index, zones, send_at, opens_at, closes_at)
    SELECT $1, window_index, string_to_array(zones, ','), send_at, opens_at, closes_at
    FROM staged_windows
    `,
    [run],
  );
}

/** Totals of one window, or of a run without windows. */
export type WindowTotals = {
  /** Empty without windows. */
  readonly zones: readonly string[];
  readonly requests: number;
  readonly recipients: number;
  /** Some of the last recipients, last first; lines count across all files. */
  readonly lastRecipients: readonly { readonly address: string; readonly line: number }[];
};

const maxLastRecipients = 3;

/** Reads the totals in request order. */
export async function readWindowTotals(client: Transaction, windowed: boolean): Promise<WindowTotals[]> {
  const zones = windowed ? 'e.zones' : 'CAST(NULL AS text)';
  const { rows } = await client.query<Omit<WindowTotals, 'zones'> & { readonly zones: string | null }>(
    `
    SELECT zones, requests, recipients,
           (SELECT coalesce(json_agg(json_build_object('address', s.address, 'line', s.line)
                                     ORDER BY s.envelope DESC, s.line DESC), '[]')
            FROM (
              SELECT s.address, s.line, s.envelope
              FROM staged_contacts s
              ${windowed ? 'JOIN staged_envelopes e USING (envelope) WHERE e.zones = portion.zones' : ''}
              ORDER BY s.envelope DESC, s.line DESC
              LIMIT $1
            ) s) AS "lastRecipients"
    FROM (
      SELECT ${zones} AS zones, min(z.envelope) AS group_order, sum(z.requests)::integer AS requests,
             sum(z.recipients)::integer AS recipients
      FROM sized_envelopes z
      ${windowed ? 'JOIN staged_envelopes e ON e.envelope = z.staged' : ''}
      GROUP BY 1
    ) portion
    ORDER BY group_order
    `,
    [maxLastRecipients],
  );
  return rows.map((row) => ({ ...row, zones: row.zones === null ? [] : row.zones.split(',') }));
}
