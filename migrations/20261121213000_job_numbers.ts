import type { Knex } from 'knex';

/**
 * The service's own number for what it has taken, where its answer said one: a delivery report may come under it. Few
 * interfaces answer so, and a request that was sent twice may have two. The services of two accounts may give the same
 * number, and one may give it again after years.
 *
 * What was answered before is found in the words that were kept of it. And reports of which something could not be read are
 * found by an index of their own.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE jobs (
      -- In capitals.
      job_number  text NOT NULL,
      account     text NOT NULL,
      run_id      text NOT NULL,
      request     integer NOT NULL,
      answered_at timestamptz NOT NULL,
      -- It is looked for by its number: the run is what is not known.
      PRIMARY KEY (job_number, account, run_id, request)
    );
    INSERT INTO jobs (job_number, account, run_id, request, answered_at)
    SELECT upper(substr(a.detail, 5)), r.account, a.run_id, a.request, max(a.finished_at)
    FROM attempts a
    JOIN runs r USING (run_id)
    WHERE a.verdict = 'accepted' AND a.detail LIKE 'job %' AND a.finished_at IS NOT NULL
    GROUP BY 1, 2, 3, 4;

    ALTER TABLE reports ADD COLUMN job_number text;
    -- Also why a part of one that was applied could not be read.
    CREATE INDEX reports_flawed ON reports (report_id) WHERE detail IS NOT NULL;

    -- The parts of a divided request; of all others it has nothing, and neither column ever changes.
    CREATE INDEX requests_divided ON requests (run_id, divided_from) WHERE divided_from IS NOT NULL;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP INDEX requests_divided;
    DROP INDEX reports_flawed;
    ALTER TABLE reports DROP COLUMN job_number;
    DROP TABLE jobs;
  `);
}
