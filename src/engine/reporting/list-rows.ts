import { countLineEnds } from '../../contacts/text-lines.ts';
import { InputError } from '../../domain/problems.ts';
import {
  listContactFiles,
  listSearchedPieces,
  maxSearchedPieces,
  readContactFilePiece,
  type WantedPiece,
} from '../../ledger/runs/contact-files.ts';
import type { Snapshot } from '../../ledger/session.ts';
import { bitsOf, filteredWords } from '../../platform/word-filter.ts';
import { decompress, type KeptFile, openKeptBytes, openKeptContactFile } from '../plan/kept-contact-files.ts';

/** A row of a kept contact file. */
export type ListRow = {
  /** The run that keeps the file. */
  readonly run: string;
  /** Its line, counted from file to file. */
  readonly row: number;
  readonly values: Readonly<Record<string, string>>;
};

export type FoundRows = {
  readonly rows: readonly ListRow[];
  /** Of the files of runs planned up to this time, not all were searched; null: all were. */
  readonly endedAt: Date | null;
};

type RowSearch = {
  /** Of the runs; null: all. */
  readonly accounts: readonly string[] | null;
  readonly limit: number;
  /** Whether the time for the search is over. */
  readonly isOver: () => boolean;
};

/**
 * Finds rows with all words of a text, in any columns and order, those of the newest runs first. In a cell of several
 * lines, the words stand in one of them. It reads piece by piece, so its memory is constant.
 */
export async function findListRows(
  client: Snapshot,
  text: string,
  { accounts, limit, isOver }: RowSearch,
): Promise<FoundRows> {
  if (wordsOf(text).length === 0) return { rows: [], endedAt: null };
  const rows: ListRow[] = [];
  const pieces = await listSearchedPieces(client, bitsOf(filteredWords(text)), accounts);
  for (const searched of pieces) {
    const { piece, plannedAt } = searched;
    for await (const batch of readRows(client, searched, { piece }, text)) {
      rows.push(...batch);
      if (rows.length >= limit) return { rows: rows.slice(0, limit), endedAt: null };
      if (isOver()) return { rows, endedAt: plannedAt };
    }
    if (isOver()) return { rows, endedAt: plannedAt };
  }
  const isCut = pieces.length === maxSearchedPieces;
  return { rows, endedAt: (isCut && pieces.at(-1)?.plannedAt) || null };
}

/** Reads one row of the files of a run; undefined: it is not kept, or cannot be read in time. */
export async function readListRow(
  client: Snapshot,
  run: string,
  row: number,
  isOver: () => boolean,
): Promise<ListRow | undefined> {
  const files = await listContactFiles(client, run);
  const file = files.findLast(({ linesBefore, dropped }) => linesBefore < row && !dropped);
  if (!file) return undefined;
  for await (const batch of readRows(client, file, { line: row - file.linesBefore }, '')) {
    const found = batch.find((each) => each.row === row);
    if (found || isOver()) return found;
  }
  return undefined;
}

/** Reads the rows with all words of a text: of a piece, or of the whole file where its pieces cannot be read alone. */
async function* readRows(
  client: Snapshot,
  file: KeptFile,
  wanted: WantedPiece,
  text: string,
): AsyncGenerator<readonly ListRow[], void, undefined> {
  const pieces = await readContactFilePiece(client, file, wanted);
  const [first, last = first] = await Promise.all(pieces.map(({ data }) => decompress(data)));
  if (last && !hasLineWith(last, filteredWords(text))) return;
  // The header stands in the first piece, whose rows are another one's.
  const firstLines = first && first !== last ? countLineEnds(first.toString('latin1')) : 0;
  const linesAdded = file.linesBefore + (pieces.at(-1)?.linesBefore ?? 0) - firstLines;
  const contacts = last
    ? await openKeptBytes(inOrder([...new Set([first ?? last, last])]), file)
    : await openKeptContactFile(client, file);
  const words = wordsOf(text);
  try {
    for await (const batch of contacts.batches)
      yield batch.flatMap((row): ListRow[] => {
        if (row.kind === 'broken' || row.line <= firstLines || !hasWords(row.values, words)) return [];
        const values = contacts.header.map((column, index) => [column, row.values[index] ?? '']);
        return [{ run: file.keptBy, row: linesAdded + row.line, values: Object.fromEntries(values) }];
      });
  } catch (error) {
    // At its end, a piece is refused of which most rows are broken. Its file was not.
    if (!(error instanceof InputError)) throw error;
  } finally {
    await contacts.close();
  }
}

async function* inOrder(pieces: readonly Buffer[]): AsyncGenerator<Buffer, void, undefined> {
  yield* pieces;
}

/** Whether a line has all words. Reading the rows takes ten times as long. */
function hasLineWith(piece: Buffer, words: readonly string[]): boolean {
  const [first, ...others] = words.toSorted((one, other) => other.length - one.length);
  if (first === undefined) return true;
  const text = piece.toString('latin1').toLowerCase();
  for (let at = text.indexOf(first); at >= 0; ) {
    const end = text.indexOf('\n', at);
    const line = text.slice(text.lastIndexOf('\n', at) + 1, end < 0 ? undefined : end);
    if (others.every((word) => line.includes(word))) return true;
    at = end < 0 ? -1 : text.indexOf(first, end);
  }
  return false;
}

/** Words as people read them, of any letters and digits. */
function wordsOf(text: string): readonly string[] {
  return (
    text
      .normalize('NFC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  );
}

function hasWords(values: readonly string[], words: readonly string[]): boolean {
  const text = values.join('\n').normalize('NFC').toLowerCase();
  if (!words.every((word) => text.includes(word))) return false;
  const found = new Set(wordsOf(text));
  return words.every((word) => found.has(word));
}
