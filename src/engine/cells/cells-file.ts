import { z } from 'zod';
import { InputError, type Problem } from '../../domain/problems.ts';
import { text } from '../../platform/scalars.ts';
import { secretReference } from '../../platform/secrets.ts';
import { didYouMean } from '../../platform/suggestions.ts';
import { readYaml, type YamlFile } from '../../platform/yaml.ts';
import { inProject, readText } from '../definition-files.ts';
import type { Settings } from '../settings.ts';

const schema = z.strictObject({
  cells: z.record(
    z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,30}$/, 'expected a name of lower-case letters, digits and -, such as north'),
    z.strictObject({
      /** A role that only reads is enough. */
      read: secretReference,
      /** For commands that change something in all cells. */
      write: secretReference.optional(),
      /** Where browsers reach its dashboard. */
      dashboard: z
        .url({ protocol: /^https?$/, error: 'expected an address such as https://north.example' })
        .optional(),
      accounts: z.array(text),
    }),
  ),
});

type Definition = z.output<typeof schema>['cells'][string];

/** A Postgres with the ledger of some accounts, which has a `VOLLEY_HOME`, a `serve` and workers of its own. */
export type Cell = Pick<Definition, 'accounts'> & {
  readonly name: string;
  readonly dashboard: string | undefined;
  /** The names of environment variables that hold the addresses of its database. */
  readonly read: string;
  readonly write: string | undefined;
  /** Where the file names them, for errors. */
  readonly where: string;
};

export type CellAccess = 'read' | 'write';

/** Relative to the working folder; undefined: the ledger of this project is the only one. */
export function cellsPath({ environment, workingFolder }: Settings): string | undefined {
  const named = environment['VOLLEY_CELLS'];
  return named ? inProject(named, workingFolder) : undefined;
}

/**
 * Reads the file of `VOLLEY_CELLS`.
 *
 * @returns the cells in the order of the file; undefined without one
 * @throws InputError for an invalid file, and for an account in two cells
 */
export async function loadCells(settings: Settings): Promise<readonly Cell[] | undefined> {
  const path = cellsPath(settings);
  return path === undefined ? undefined : readCells(await readText(path, settings, 'cells'), path);
}

/** @param path as errors show it */
export function readCells(source: string, path: string): readonly Cell[] {
  const file = readYaml(source, path, schema);
  const problems = findRepeated(file);
  if (problems.length > 0) throw new InputError(problems);
  return Object.entries(file.value.cells).map(([name, { read, write, dashboard, accounts }]) => ({
    name,
    accounts,
    dashboard: dashboard?.replace(/(?<!\/)\/+$/, ''),
    read: variableOf(read),
    write: write && variableOf(write),
    where: file.locate(['cells', name]),
  }));
}

const variableOf = (reference: string): string => reference.slice(2, -1);

function findRepeated({ value, locate }: YamlFile<z.output<typeof schema>>): Problem[] {
  const places = new Map<string, { readonly cell: string; readonly where: string }>();
  return Object.entries(value.cells).flatMap(([cell, { accounts }]) =>
    accounts.flatMap((account, index): Problem[] => {
      const where = locate(['cells', cell, 'accounts', index]);
      const first = places.get(account);
      places.set(account, first ?? { cell, where });
      const what = `Account "${account}" is also in cell ${first?.cell} (${first?.where}); expected each account in one cell.`;
      return first ? [{ where, what }] : [];
    }),
  );
}

/** @throws InputError for a name that the file does not have */
export function requireCell(cells: readonly Cell[], name: string, askedAt: string): Cell {
  const found = cells.find((cell) => cell.name === name);
  if (found) return found;
  const known = cells.map((cell) => cell.name);
  const what = `There is no cell "${name}".${didYouMean(name, known)} There are: ${known.join(', ')}.`;
  throw new InputError([{ where: askedAt, what }]);
}

/** @throws InputError for an account that is in no cell */
export function requireCellOf(cells: readonly Cell[], account: string, askedAt: string): Cell {
  const found = cells.find(({ accounts }) => accounts.includes(account));
  if (found) return found;
  const known = cells.flatMap(({ accounts }) => accounts);
  const what = `No cell has the account "${account}".${didYouMean(account, known)}`;
  throw new InputError([{ where: askedAt, what }]);
}
