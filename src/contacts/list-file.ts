import { openContactFile, type Row } from './read.ts';

/** A CSV file that is a list of something, as it is read: a header, and rows in batches. */
export type ListFile = {
  readonly name: string;
  readonly header: readonly string[];
  /** Can be read once. */
  readonly batches: AsyncIterable<readonly ListRow[]>;
};

export type ListRow =
  | { readonly kind: 'row'; readonly line: number; readonly values: readonly string[] }
  | { readonly kind: 'broken'; readonly line: number; readonly detail: string };

const batchSize = 5_000;

/**
 * @param name the file's name as errors show it
 * @throws InputError when the file or its header cannot be read
 */
export async function openListFile(path: string, name: string): Promise<ListFile> {
  const { header, rows } = await openContactFile(path, name);
  return { name, header, batches: inBatches(rows, header.length) };
}

async function* inBatches(
  rows: AsyncIterable<Row>,
  columns: number,
): AsyncGenerator<readonly ListRow[], void, undefined> {
  let batch: ListRow[] = [];
  for await (const { line, values } of rows) {
    const detail = `${values.length} values, where the header has ${columns} columns`;
    batch.push(values.length === columns ? { kind: 'row', line, values } : { kind: 'broken', line, detail });
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
