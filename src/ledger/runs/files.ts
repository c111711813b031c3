import type { Knex } from 'knex';
import type { AttachedFile } from '../../domain.ts';

/** The files of a run, encoded for sending. */
export async function readRunFiles(knex: Knex, run: string): Promise<AttachedFile[]> {
  const rows: { name: string; data: Buffer }[] = await knex('run_files')
    .where({ run_id: run })
    .orderBy('position')
    .select('name', 'data');
  return rows.map(({ name, data }) => ({ Name: name, Data: data.toString('base64') }));
}
