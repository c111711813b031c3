import type pg from 'pg';
import type { Transaction } from '../session.ts';

/** A file as it was when the run was planned. `path` is relative to the campaign's folder. */
export type RunFile = { readonly path: string; readonly data: Buffer };

export async function readRunFiles(
  pool: pg.Pool,
  run: string,
  paths: readonly string[],
): Promise<readonly RunFile[]> {
  const { rows } = await pool.query<RunFile>(
    'SELECT path, data FROM run_files WHERE run_id = $1 AND path = ANY ($2::text[])',
    [run, paths],
  );
  return rows;
}

/** An insert has at most this many bytes or files. */
const batchBytes = 16 * 1024 * 1024;
const batchFiles = 200;

/** Files are read by path, or copied from an earlier run. */
export type FileSource =
  | { readonly kind: 'none' }
  | { readonly kind: 'read'; readonly readFile: (path: string) => Promise<Buffer> }
  | { readonly kind: 'run'; readonly run: string };

const neededPaths = `
  SELECT file ->> 'path' AS path
  FROM envelopes, jsonb_array_elements(files) AS file
  WHERE run_id = $1 AND files <> '[]'
  UNION
  SELECT audio_path
  FROM envelopes, jsonb_each_text(audio) AS part (field, audio_path)
  WHERE run_id = $1 AND audio <> '{}'
`;

/** Stores files that envelopes refer to, so that changes after planning have no effect. */
export async function storeRunFiles(client: Transaction, run: string, source: FileSource): Promise<void> {
  if (source.kind === 'none') return;
  if (source.kind === 'run') {
    await client.query(
      `
      INSERT INTO run_files (run_id, path, data)
      SELECT $1, path, data
      FROM run_files
      WHERE run_id = $2 AND path IN (${neededPaths})
      `,
      [run, source.run],
    );
    return;
  }
  const { rows } = await client.query<{ path: string }>(neededPaths, [run]);
  let batch: RunFile[] = [];
  let bytes = 0;
  for (const { path } of rows) {
    const data = await source.readFile(path);
    batch.push({ path, data });
    bytes += data.length;
    if (bytes >= batchBytes || batch.length >= batchFiles) {
      await insertFiles(client, run, batch);
      batch = [];
      bytes = 0;
    }
  }
  if (batch.length > 0) await insertFiles(client, run, batch);
}

async function insertFiles(client: Transaction, run: string, files: readonly RunFile[]): Promise<void> {
  await client.query(
    `
    INSERT INTO run_files (run_id, path, data)
    SELECT $1, path, data
    FROM unnest($2::text[], $3::bytea[]) AS file (path, data)
    `,
    [run, files.map(({ path }) => path), files.map(({ data }) => data)],
  );
}
