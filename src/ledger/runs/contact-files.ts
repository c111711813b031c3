import type pg from 'pg';
import { streamRows } from '../cursor.ts';
import type { ReadConnection, Snapshot, Transaction } from '../session.ts';

/** How a file was read, so that it can be read again in the same way. */
export type ContactFileRecord = {
  readonly name: string;
  readonly linesBefore: number;
  /** Null for a workbook, as the delimiter. */
  readonly encoding: string | null;
  readonly delimiter: string | null;
  /** Of a workbook. */
  readonly sheet: string | null;
  readonly skipLines: number;
  readonly sha256: Buffer;
};

/** `keptBy`: the run with its content; for a rerun, the original run. */
export type KeptContactFile = ContactFileRecord & {
  readonly file: number;
  readonly keptBy: string;
  /** Its content went when a person in it was erased. */
  readonly dropped: boolean;
};

/** A kept file, with how its campaign reads phone numbers. */
export type SearchedContactFile = Omit<KeptContactFile, 'dropped'> & {
  readonly country: string | null;
  readonly countryColumn: string | null;
};

/** Lists all contact files whose content is kept. */
export async function listAllContactFiles(pool: pg.Pool): Promise<SearchedContactFile[]> {
  const { rows } = await pool.query<SearchedContactFile>(
    `
    SELECT file, name, lines_before AS "linesBefore", encoding, delimiter, sheet, skip_lines AS "skipLines", sha256,
           run_id AS "keptBy", definition #>> '{contacts,country}' AS country,
           definition #>> '{contacts,countryColumn}' AS "countryColumn"
    FROM contact_files f
    JOIN runs USING (run_id)
    WHERE purged_at IS NULL
      AND EXISTS (SELECT FROM contact_file_pieces p WHERE p.run_id = f.run_id AND p.file = f.file)
    ORDER BY created_at, run_id, file
    `,
  );
  return rows;
}

type PiecesOfFile = Pick<KeptContactFile, 'keptBy' | 'file'>;

/** @param from the first piece that goes */
export async function deleteContactFilePieces(
  client: Transaction,
  { keptBy, file }: PiecesOfFile,
  from: number,
): Promise<void> {
  await client.query('DELETE FROM contact_file_pieces WHERE run_id = $1 AND file = $2 AND piece >= $3', [
    keptBy,
    file,
    from,
  ]);
}

/** Replaces a piece, or adds it. */
export async function putContactFilePiece(
  client: Transaction,
  { keptBy, file }: PiecesOfFile,
  piece: number,
  data: Buffer,
): Promise<void> {
  await client.query(
    `
    INSERT INTO contact_file_pieces (run_id, file, piece, data)
    VALUES ($1, $2, $3, $4)
    ON CONFLICT (run_id, file, piece) DO UPDATE SET data = excluded.data
    `,
    [keptBy, file, piece, data],
  );
}

export async function listContactFiles(client: ReadConnection, run: string): Promise<KeptContactFile[]> {
  const { rows } = await client.query<KeptContactFile>(
    `
    WITH RECURSIVE origin AS (
      SELECT run_id, source_run FROM runs WHERE run_id = $1
      UNION ALL
      SELECT r.run_id, r.source_run FROM runs r JOIN origin o ON r.run_id = o.source_run
    )
    SELECT file, name, lines_before AS "linesBefore", encoding, delimiter, sheet, skip_lines AS "skipLines", sha256,
           o.run_id AS "keptBy",
           NOT EXISTS (SELECT FROM contact_file_pieces p WHERE p.run_id = o.run_id AND p.file = f.file) AS dropped
    FROM contact_files f
    JOIN origin o ON o.source_run IS NULL
    WHERE f.run_id = $1
    ORDER BY file
    `,
    [run],
  );
  return rows;
}

/** A piece is a compressed mebibyte. */
const piecesPerRead = 4;

export async function* readContactFilePieces(
  client: Snapshot,
  { keptBy, file }: Pick<KeptContactFile, 'keptBy' | 'file'>,
): AsyncGenerator<Buffer, void, undefined> {
  const sql = 'SELECT data FROM contact_file_pieces WHERE run_id = $1 AND file = $2 ORDER BY piece';
  const pieces = streamRows<{ data: Buffer }>(
    client,
    `pieces of file ${file}`,
    { sql, values: [keptBy, file] },
    piecesPerRead,
  );
  for await (const rows of pieces) for (const { data } of rows) yield data;
}

/**
 * @param continued limited runs among these left rows of their files for a later run
 * @returns the given digests (SHA-256, hexadecimal) of files that the campaign has read
 */
export async function findKnownDigests(
  pool: pg.Pool,
  campaign: string,
  digests: readonly string[],
  continued: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ digest: string }>(
    `
    SELECT DISTINCT encode(sha256, 'hex') AS digest
    FROM contact_files
    JOIN runs USING (run_id)
    WHERE campaign = $1 AND kind = 'ordinary' AND encode(sha256, 'hex') = ANY ($2::text[])
      AND NOT (run_id = ANY ($3::text[]) AND contacts_beyond_limit > 0)
    `,
    [campaign, digests, continued],
  );
  return new Set(rows.map(({ digest }) => digest));
}
