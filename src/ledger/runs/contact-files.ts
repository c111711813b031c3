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
  /** Its columns by the names that the campaign has for them, if a person brought the file; else null. */
  readonly columns: Readonly<Record<string, string>> | null;
  /** Its content went when a person in it was erased. */
  readonly dropped: boolean;
};

/** SQL: how a file of `contact_files f` was read. */
const readingColumns = `f.file, f.name, f.lines_before AS "linesBefore", f.encoding, f.delimiter, f.sheet,
           f.skip_lines AS "skipLines"`;

/** A kept file, with how its campaign reads phone numbers. */
export type SearchedContactFile = Omit<KeptContactFile, 'dropped'> & {
  readonly country: string | null;
  readonly countryColumn: string | null;
};

/** Lists all contact files whose content is kept. */
export async function listAllContactFiles(pool: pg.Pool): Promise<SearchedContactFile[]> {
  const { rows } = await pool.query<SearchedContactFile>(
    `
    SELECT ${readingColumns}, sha256, run_id AS "keptBy", definition #>> '{contacts,country}' AS country,
           definition #>> '{contacts,countryColumn}' AS "countryColumn",
           definition #> '{contacts,list,columns}' AS columns
    FROM contact_files f
    JOIN runs USING (run_id)
    WHERE purged_at IS NULL
      AND EXISTS (SELECT FROM contact_file_pieces p WHERE p.run_id = f.run_id AND p.file = f.file)
    ORDER BY created_at, run_id, file
    `,
  );
  return rows;
}

/** A piece of a kept contact file. */
export type PieceContent = {
  /** Compressed by itself. */
  readonly data: Buffer;
  /** Lines of its file before it. Null, as `words`: it cannot be read alone. */
  readonly linesBefore: number | null;
  /** A Bloom filter of its words (`platform/word-filter.ts`). */
  readonly words: Buffer | null;
};

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

/** Replaces a piece, or adds it. An update of its data would forget its words, as one by Volley 0.3.0 must. */
export async function putContactFilePiece(
  client: Transaction,
  { keptBy, file }: PiecesOfFile,
  piece: number,
  { data, linesBefore, words }: PieceContent,
): Promise<void> {
  await client.query('DELETE FROM contact_file_pieces WHERE run_id = $1 AND file = $2 AND piece = $3', [
    keptBy,
    file,
    piece,
  ]);
  await client.query(
    `
    INSERT INTO contact_file_pieces (run_id, file, piece, data, lines_before, words)
    VALUES ($1, $2, $3, $4, $5, $6)
    `,
    [keptBy, file, piece, data, linesBefore, words],
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
    SELECT ${readingColumns}, sha256, o.run_id AS "keptBy",
           (SELECT definition #> '{contacts,list,columns}' FROM runs WHERE run_id = f.run_id) AS columns,
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
    `pieces of ${keptBy} ${file}`,
    { sql, values: [keptBy, file] },
    piecesPerRead,
  );
  for await (const rows of pieces) for (const { data } of rows) yield data;
}

/** A piece that may have all of some words; `piece` is null where the whole file must be read. */
export type SearchedPiece = Omit<KeptContactFile, 'dropped' | 'sha256'> & {
  readonly plannedAt: Date;
  readonly piece: number | null;
};

/** Five million contacts have 400 pieces. */
export const maxSearchedPieces = 2_000;

/**
 * Lists pieces that may have all words, those of the newest run first: at most `maxSearchedPieces`.
 *
 * @param bits of the words (`bitsOf`)
 * @param accounts of the runs; null: all
 */
export async function listSearchedPieces(
  client: ReadConnection,
  bits: readonly number[],
  accounts: readonly string[] | null,
): Promise<SearchedPiece[]> {
  const { rows } = await client.query<SearchedPiece>(
    `
    SELECT ${readingColumns}, f.run_id AS "keptBy", r.created_at AS "plannedAt",
           CASE WHEN p.words IS NOT NULL THEN p.piece END AS piece
    FROM runs r
    JOIN contact_files f USING (run_id)
    JOIN contact_file_pieces p USING (run_id, file)
    WHERE r.purged_at IS NULL AND ($2::text[] IS NULL OR r.account = ANY ($2))
      AND CASE WHEN p.words IS NULL THEN p.piece = 0 ELSE may_have_words(p.words, $1::integer[]) END
    ORDER BY r.created_at DESC, f.run_id, f.file, p.piece
    LIMIT ${maxSearchedPieces}
    `,
    [bits, accounts],
  );
  return rows;
}

/** By its number, or by a line of its file. */
export type WantedPiece = { readonly piece?: number | null; readonly line?: number };

/**
 * Reads the first piece of a file, which has the header, and the piece with a number or a line.
 *
 * @returns the first one only: it is the wanted one; none: the pieces of the file cannot be read alone
 */
export async function readContactFilePiece(
  client: ReadConnection,
  { keptBy, file }: PiecesOfFile,
  { piece, line }: WantedPiece,
): Promise<readonly Pick<PieceContent, 'data' | 'linesBefore'>[]> {
  const { rows } = await client.query<PieceContent>(
    `
    SELECT data, lines_before AS "linesBefore"
    FROM contact_file_pieces
    WHERE run_id = $1 AND file = $2 AND lines_before IS NOT NULL
      AND piece IN (0, coalesce($3::integer, (
        SELECT max(piece) FROM contact_file_pieces WHERE run_id = $1 AND file = $2 AND lines_before < $4::integer
      )))
    ORDER BY piece
    `,
    [keptBy, file, piece ?? null, line ?? null],
  );
  return rows;
}

/**
 * @param continued limited runs among these, and those with contacts beyond a cap, left rows of their files for a later run
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
      AND NOT (run_id = ANY ($3::text[]) AND (contacts_beyond_limit > 0 OR EXISTS (
        SELECT
        FROM rejected_contacts c
        WHERE c.run_id = runs.run_id AND c.kind IN ('over_frequency', 'over_daily_limit')
      )))
    `,
    [campaign, digests, continued],
  );
  return new Set(rows.map(({ digest }) => digest));
}
