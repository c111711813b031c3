import type { RunState } from '../../domain/runs.ts';
import type { Connection } from '../session.ts';

/** Changes of a run as a whole, which change requests without changing their slices. */
export type RunVersion = {
  readonly state: RunState;
  /** Changes with its state, and with each decision of an operator about its requests in doubt. */
  readonly content: string;
};

export async function findRunVersion(client: Connection, run: string): Promise<RunVersion | undefined> {
  const { rows } = await client.query<RunVersion>({
    name: 'find-run-version',
    text: `
      SELECT state, concat_ws(
               '/', state, purged_at,
               (SELECT max(change) FROM run_states WHERE run_id = $1),
               (SELECT count(*) FROM resolutions WHERE run_id = $1)
             ) AS content
      FROM runs
      WHERE run_id = $1
    `,
    values: [run],
  });
  return rows[0];
}
