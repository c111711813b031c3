import { z } from 'zod';
import { createRowFilter } from '../../campaign/row-filter.ts';
import { variantName } from '../../campaign/variants.ts';
import { frozenVariants } from '../../campaign/variants-definition.ts';
import type { ContactFile, FileFormat } from '../../contacts/contact-file.ts';
import { InputError } from '../../domain/problems.ts';
import type { AsOf } from '../../domain/replica.ts';
import { readReportInSnapshot } from '../../ledger/replica.ts';
import { type KeptContactFile, listContactFiles } from '../../ledger/runs/contact-files.ts';
import {
  type ContactResult,
  findLimitLine,
  streamContactResults,
} from '../../ledger/runs/contact-results.ts';
import type { EngineContext } from '../context.ts';
import { openKeptContactFile } from '../plan/kept-contact-files.ts';
import { requireUnpurgedRun } from '../runs/find-run.ts';

export type ContactReport = {
  readonly asOf: AsOf;
  /** In order of first occurrence. */
  readonly columns: readonly string[];
  readonly files: readonly string[];
  /** How the first CSV file was written; undefined for workbooks. */
  readonly csv: Extract<FileFormat, { kind: 'csv' }> | undefined;
  readonly hasVariants: boolean;
  readonly rows: AsyncIterable<readonly ContactRow[]>;
};

/** `result` is undefined when `contacts.where` excluded the row, or it is left for a later run. */
export type ContactRow = {
  readonly file: string;
  readonly line: number;
  /** By the report's columns; empty when the row could not be read. */
  readonly values: readonly string[];
  /** The raw row when it could not be read, else empty. */
  readonly text: string;
  readonly result: ContactResult | undefined;
  /** The name of its variant; null: it has none. */
  readonly variant: string | null;
  readonly isBeyondLimit: boolean;
};

/**
 * Joins the kept contact files with the ledger's records, in constant memory.
 *
 * @throws InputError when the run is missing or purged, or has no contact files
 */
export async function reportContacts<Result>(
  context: EngineContext,
  run: string,
  use: (report: ContactReport) => Promise<Result>,
): Promise<Result> {
  const { definition, kind } = await requireUnpurgedRun(context, run);
  if (kind === 'test') {
    const what = `A test keeps no contact files. \`volley report run ${run}\` reports it, and \`volley report recipient <address>\` each of its messages.`;
    throw new InputError([{ where: `run ${run}`, what }]);
  }
  return readReportInSnapshot(context.ledger, context.now, async (client, asOf) => {
    const kept = await listContactFiles(client, run);
    if (kept.length === 0) {
      const what =
        'This run has no kept contact files: an earlier version of Volley planned it. `volley report run` lists its rejected contacts.';
      throw new InputError([{ where: `run ${run}`, what }]);
    }
    // A rerun keeps its contact files with the first run.
    for (const { keptBy } of kept) await requireUnpurgedRun(context, keptBy);
    const opened: OpenedFile[] = [];
    try {
      for (const file of kept) {
        if (file.dropped) throw new InputError([{ where: `run ${run}`, what: droppedText(file.name) }]);
        opened.push({ kept: file, contacts: await openKeptContactFile(client, file) });
      }
      const columns = [...new Set(opened.flatMap(({ contacts }) => contacts.header))];
      const limit = createLimitCheck(await findLimitLine(client, run), definition);
      const named = frozenVariants.parse(definition);
      const hasVariants = named.variants !== undefined;
      const rows = joinResults(opened, columns, {
        results: streamContactResults(client, run, hasVariants),
        run,
        named,
        isBeyondLimit: limit,
      });
      const csv = opened.map(({ contacts }) => contacts.format()).find((format) => format.kind === 'csv');
      return await use({ asOf, columns, files: kept.map(({ name }) => name), csv, hasVariants, rows });
    } finally {
      for (const { contacts } of opened) await contacts.close();
    }
  });
}

const droppedText = (name: string): string =>
  `The content of ${name} is not kept any more: \`volley erase\` erased a person, and a workbook cannot lose single rows. \`volley report run\` lists the run's rejected contacts.`;

/** Whether a row without a result is left for a later run. */
type LimitCheck = (line: number, valueIn: (column: string) => string) => boolean;

const frozenConditions = z.array(
  z.object({
    column: z.string(),
    equals: z.string().optional(),
    in: z.array(z.string()).optional(),
    present: z.boolean().optional(),
  }),
);
const frozenDefinition = z.object({ contacts: z.object({ where: frozenConditions.optional() }) });

/** @param limitLine as of `findLimitLine` */
function createLimitCheck(limitLine: number | undefined, definition: unknown): LimitCheck {
  if (limitLine === undefined) return () => false;
  const filter = createRowFilter(frozenDefinition.parse(definition).contacts.where);
  return (line, valueIn) => line > limitLine && (filter?.(valueIn) ?? true);
}

type OpenedFile = { readonly kept: KeptContactFile; readonly contacts: ContactFile };

/** Both sides are in line order. A rerun omits other recipients. */
async function* joinResults(
  files: readonly OpenedFile[],
  columns: readonly string[],
  {
    results,
    run,
    named,
    isBeyondLimit,
  }: {
    readonly results: AsyncIterable<readonly ContactResult[]>;
    readonly run: string;
    readonly named: Parameters<typeof variantName>[0];
    readonly isBeyondLimit: LimitCheck;
  },
): AsyncGenerator<readonly ContactRow[], void, undefined> {
  const findResult = await createResultFinder(results);
  for (const { kept, contacts } of files) {
    const indexes = columns.map((column) => contacts.header.indexOf(column));
    for await (const batch of contacts.batches) {
      const rows: ContactRow[] = [];
      for (const row of batch) {
        const { line } = row;
        const whole = row.kind === 'row';
        const result = await findResult(kept.linesBefore + line);
        if (!result && kept.keptBy !== run) continue;
        const valueIn = (column: string): string =>
          (whole && row.values[contacts.header.indexOf(column)]) || '';
        rows.push({
          file: kept.name,
          line,
          values: whole ? indexes.map((index) => row.values[index] ?? '') : [],
          text: whole ? '' : row.text,
          result,
          variant: variantName(named, result ?? {}),
          isBeyondLimit: !result && isBeyondLimit(kept.linesBefore + line, valueIn),
        });
      }
      yield rows;
    }
  }
}

/** Lines must be asked for in ascending order. */
async function createResultFinder(
  batches: AsyncIterable<readonly ContactResult[]>,
): Promise<(line: number) => ContactResult | undefined | Promise<ContactResult | undefined>> {
  const iterator = batches[Symbol.asyncIterator]();
  let batch: readonly ContactResult[] = [];
  let next = 0;
  let finished = false;
  const find = (line: number): ContactResult | undefined => {
    while (next < batch.length && (batch[next]?.line ?? 0) < line) next++;
    const found = batch[next];
    return found?.line === line ? found : undefined;
  };
  const findLater = async (line: number): Promise<ContactResult | undefined> => {
    while (next >= batch.length && !finished) {
      const { done, value } = await iterator.next();
      finished = done === true;
      batch = value ?? [];
      next = 0;
      find(line);
    }
    return find(line);
  };
  return (line) => {
    const found = find(line);
    return next < batch.length || finished ? found : findLater(line);
  };
}
