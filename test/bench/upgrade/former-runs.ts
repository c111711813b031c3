import pg from 'pg';

/** Recipients of each added run, in requests of one. A slice has 2,000 of them, of which one was rejected. */
export const recipientsOfRun = 100_000;

/** SQL: the added runs `r`. Their ids come before those of the fixture. */
export const isAdded = `r.run_id LIKE '251001-%'`;

/**
 * Adds runs to a ledger of Volley 0.3.0, as that version would have left them: sent, reported and booked, with the raw
 * reports. They copy the run `template`, which has neither.
 */
export async function addFormerRuns(databaseUrl: string, template: string, runs: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    // References are right anyway.
    await client.query('SET session_replication_role = replica');
    for (let run = 1; run <= runs; run++) {
      const id = `251001-${String(run).padStart(5, '0')}`;
      await client.query('BEGIN');
      await client.query(addRun, [id, template, 1_000 + run]);
      for (const statement of addRows) await client.query(statement, [id, recipientsOfRun]);
      await client.query('COMMIT');
    }
    await client.query('VACUUM ANALYZE');
  } finally {
    await client.end();
  }
}

/** SQL: what the rows of $1 copy from those of the run $2. */
const copied = (table: string, changes: string): string => `
  INSERT INTO ${table} OVERRIDING SYSTEM VALUE
  SELECT n.* FROM ${table} f CROSS JOIN LATERAL jsonb_populate_record(f, jsonb_build_object('run_id', $1::text${changes})) n
  WHERE f.run_id = $2`;

const addRun = `
  WITH states AS (${copied('run_states', '')}
  ), files AS (${copied('contact_files', '')}
  ), envelopes AS (${copied('envelopes', '')}
  )
  ${copied('runs', `, 'run_number', $3::integer, 'contacts_read', ${recipientsOfRun}, 'contacts_suppressed', 0, 'created_at', '2026-10-01T00:00Z', 'finished_at', '2026-10-01T01:00Z'`)}
`;

const slices = `generate_series(0, $2::integer / 2000 - 1) AS s`;
const sentAt = `timestamptz '2026-10-01T00:00Z'`;
/** SQL: the requests of the run that are accepted. */
const accepted = `(SELECT n FROM generate_series(1, $2::integer) AS n WHERE n % 2000 <> 0) AS a`;
const reportId = `$2::bigint * (CAST(right($1, 5) AS integer)) + n`;

/** SQL: $1: run. $2: its recipients. */
const addRows = [
  `INSERT INTO slices (run_id, slice, first_request, last_request, state, version, claimed_to, claimed_at, settled, rejected, not_accepted)
   SELECT $1, s + 1, s * 2000 + 1, (s + 1) * 2000, 'done', 1, (s + 1) * 2000, ${sentAt}, 2000, 1, 1 FROM ${slices}`,
  `INSERT INTO slice_owners (run_id, slice, version, owner) SELECT $1, s + 1, 1, gen_random_uuid() FROM ${slices}`,
  `INSERT INTO slice_outcomes (run_id, slice, base_at, finished_ms, took_ms)
   SELECT $1, s + 1, ${sentAt},
          ARRAY(SELECT CASE WHEN i < 2000 THEN i END FROM generate_series(1, 2000) AS i),
          ARRAY(SELECT CASE WHEN i < 2000 THEN 20 + i % 7 END FROM generate_series(1, 2000) AS i)
   FROM ${slices}`,
  `INSERT INTO contents (run_id, first_request, last_request, slice, envelopes, sizes, request_offsets, positions, lines, addresses, parts)
   SELECT $1, b * 25 + 1, b * 25 + 25, b / 80 + 1, array_fill(1, ARRAY[25]), array_fill(1, ARRAY[25]),
          ARRAY(SELECT generate_series(0, 24)), array_fill(1, ARRAY[25]),
          ARRAY(SELECT b * 25 + 2 + i FROM generate_series(0, 24) AS i),
          ARRAY(SELECT '+614' || lpad(CAST(b * 25 + i AS text), 8, '0') FROM generate_series(0, 24) AS i),
          array_fill(1, ARRAY[25])
   FROM generate_series(0, $2::integer / 25 - 1) AS b`,
  `INSERT INTO requests (run_id, request, envelope, recipients, state, reason, attempts, updated_at)
   SELECT $1, (s + 1) * 2000, 1, 1, 'rejected', '"Invalid number"', 1, ${sentAt} FROM ${slices}`,
  `INSERT INTO attempts (run_id, request, attempt, owner, started_at, finished_at, verdict, http_status)
   SELECT $1, (s + 1) * 2000, 1, gen_random_uuid(), ${sentAt}, ${sentAt}, 'rejected', 400 FROM ${slices}`,
  `INSERT INTO recipient_outcomes (run_id, request, position, outcome, result, units, price, reported_at, report_id, status, job_number, sent_at)
   SELECT $1, n, 1, CASE n % 33 WHEN 0 THEN 'undelivered' ELSE 'delivered' END, 'Result ' || n % 3, 1, 0.080,
          ${sentAt} + n * interval '1 ms', ${reportId}, 'Success', left(md5(CAST(n AS text)), 8), ${sentAt}
   FROM ${accepted}`,
  `INSERT INTO inbox (report_id, account, received_at, method, content_type, headers, body) OVERRIDING SYSTEM VALUE
   SELECT ${reportId}, 'sandbox', ${sentAt} + n * interval '1 ms', 'POST', 'application/json',
          '{"host":"volley.example.com","user-agent":"sender","content-type":"application/json","x-timestamp":"2026-10-01"}',
          convert_to(json_build_object('Version', 'v2.02', 'Type', 'SMS', 'MessageID', md5(CAST(n AS text)), 'Destination', '+614' || n,
            'JobNumber', left(md5(CAST(n AS text)), 8), 'SentTime', ${sentAt}, 'Status', 'Success', 'Result', 'Result ' || n % 3,
            'Price', '0.080', 'Detail', 'SMSParts:1', 'URL', 'https://volley.example.com/webhook/sandbox')::text, 'UTF8')
   FROM ${accepted}`,
  `INSERT INTO billing_slices (run_id, slice, open) SELECT $1, s + 1, false FROM ${slices}`,
  `INSERT INTO billing_entries (run_id, slice, sent, booked, charge_code, requests, recipients, accepted, failed, delivered,
                                undelivered, units, expected_units, price, unrated)
   SELECT $1, s + 1, ${sentAt}, ${sentAt}, (SELECT min(charge_code) FROM envelopes WHERE run_id = $1), 2000, 2000, 1999, 1,
          1999 - u.undelivered, u.undelivered, 1999, 1999, 1999 * 0.080, 1999
   FROM ${slices}
   CROSS JOIN LATERAL (
     SELECT count(*) AS undelivered FROM generate_series(s * 2000 + 1, s * 2000 + 1999) AS n WHERE n % 33 = 0
   ) u`,
];
