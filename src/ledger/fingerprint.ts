import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Knex } from 'knex';
import type pg from 'pg';
import { hasCode } from '../platform/file-error.ts';
import { moduleExtension, readVersion } from '../platform/package-folder.ts';

const folder = fileURLToPath(new URL('../../migrations', import.meta.url));

/**
 * Lists the names of migrations. A migration has the same name in a checkout (`.ts`) and in the package (`.js`): that
 * of its file, without extension.
 */
export async function listMigrations(): Promise<string[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(moduleExtension));
  return files.map((file) => file.slice(0, -moduleExtension.length)).sort();
}

/** Each migration records, in its own transaction, what it has changed. */
export const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: listMigrations,
  getMigrationName: (name) => name,
  async getMigration(name) {
    const file = join(folder, `${name}${moduleExtension}`);
    const migration: Knex.Migration = await import(pathToFileURL(file).href);
    const digest = await digestOfFile(name);
    return {
      ...migration,
      up: async (knex) => recordChange(knex, async () => migration.up(knex), { [name]: digest }),
      down: async (knex) => recordChange(knex, async () => migration.down?.(knex), { [name]: null }),
    };
  },
};

/**
 * Digests the texts of a migration, which are its SQL. The compiler changes the code around them.
 *
 * @param source TypeScript or compiled JavaScript
 */
export function digestOf(source: string): string {
  const code = source.replaceAll(/^import\b[^;]*;/gm, '');
  const tokens = code.match(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|`(?:\\.|[^`\\])*`|'(?:\\.|[^'\\\n])*'/g) ?? [];
  const texts = tokens.filter((token) => !token.startsWith('/')).map((token) => token.slice(1, -1));
  return hash('sha256', texts.join('\n')).slice(0, 16);
}

/** Read once: a service asks again and again, and its modules are those of its start. */
const digests = new Map<string, Promise<string>>();

function digestOfFile(name: string): Promise<string> {
  let digest = digests.get(name);
  if (digest === undefined) {
    digest = readFile(join(folder, `${name}${moduleExtension}`), 'utf8').then(digestOf);
    digest.catch(() => digests.delete(name));
    digests.set(name, digest);
  }
  return digest;
}

type Objects = Readonly<Record<string, string>>;

/**
 * Records only what the migration itself changes: a database can have other tables, and an altered table stays
 * altered.
 */
async function recordChange(
  knex: Knex,
  change: () => Promise<void>,
  digests: Readonly<Record<string, string | null>>,
): Promise<void> {
  const before = await readObjects(knex);
  await change();
  const after = await readObjects(knex);
  // The first migration makes the table of the record, the last `down` removes it.
  if (after === undefined) return;
  const known = before ?? after;
  const changed = Object.entries(after).filter(([name, definition]) => known[name] !== definition);
  const removed = Object.keys(known).filter((name) => !(name in after));
  await knex.raw(
    `WITH given (volley, digests, changed, removed) AS (VALUES (?, ?, ?, ?))
     INSERT INTO ledger_schema (volley, migrations, objects)
     SELECT volley, jsonb_strip_nulls(CAST(digests AS jsonb)), CAST(changed AS jsonb) FROM given
     ON CONFLICT (singleton) DO UPDATE
     SET volley = excluded.volley,
         migrations = jsonb_strip_nulls(ledger_schema.migrations || (SELECT CAST(digests AS jsonb) FROM given)),
         objects = (ledger_schema.objects - (SELECT CAST(removed AS text[]) FROM given)) || excluded.objects`,
    [readVersion(), JSON.stringify(digests), JSON.stringify(Object.fromEntries(changed)), removed],
  );
}

const objectName = `concat_ws(' ', kind, concat_ws('.', relation, name))`;

async function readObjects(knex: Knex): Promise<Objects | undefined> {
  const { rows: there } = await knex.raw(`SELECT to_regclass('schema_objects') AS view`);
  if (there[0]?.view == null) return undefined;
  const { rows } = await knex.raw(
    `SELECT coalesce(json_object_agg(${objectName}, definition), '{}') AS objects FROM schema_objects`,
  );
  return rows[0]?.objects;
}

/** What a database has, compared with what this Volley needs. */
export type SchemaState =
  | { readonly kind: 'empty' }
  /** A ledger whose migrations were still edited; nothing is recorded of its schema. */
  | { readonly kind: 'before 0.3.0' }
  | {
      readonly kind: 'fits';
      /** Objects that an operator added to tables of Volley. */
      readonly additions: readonly string[];
    }
  | { readonly kind: 'older'; readonly volley: string; readonly missing: readonly string[] }
  | { readonly kind: 'newer'; readonly volley: string; readonly unknown: readonly string[] }
  | { readonly kind: 'altered'; readonly volley: string; readonly differences: readonly string[] };

type RecordedSchema = {
  readonly volley: string;
  readonly digests: Readonly<Record<string, string>>;
  readonly done: readonly string[];
  readonly differences: readonly Difference[];
};

type Difference = {
  readonly name: string;
  /** Null: it is not recorded. */
  readonly needed: string | null;
  /** Null: it is not there. */
  readonly found: string | null;
};

/**
 * Compares the catalog with the record, and the migrations with those of this Volley. One query; measured on a busy
 * machine of two cores: 8 ms of processor time in Postgres, 6 ms here.
 */
export async function readSchemaState(pool: pg.Pool): Promise<SchemaState> {
  const [names, recorded] = await Promise.all([listMigrations(), readRecord(pool)]);
  if (recorded === undefined)
    return (await hasMigrations(pool)) ? { kind: 'before 0.3.0' } : { kind: 'empty' };
  const { volley, digests, done, differences } = recorded;
  const missing = names.filter((name) => !done.includes(name));
  const unknown = done.filter((name) => !names.includes(name));
  const found = [
    ...(await listEdited(names, digests)).map((name) => `migration ${name} was another one`),
    ...(missing.length > 0 ? unknown : []).map((name) => `migration ${name} is not of this Volley`),
    ...describe(differences.filter(({ needed }) => needed !== null)),
  ];
  if (found.length > 0) return { kind: 'altered', volley, differences: found };
  if (missing.length > 0) return { kind: 'older', volley, missing };
  if (unknown.length > 0) return { kind: 'newer', volley, unknown };
  return { kind: 'fits', additions: differences.map(({ name }) => name) };
}

const undefinedTable = '42P01';

async function readRecord(pool: pg.Pool): Promise<RecordedSchema | undefined> {
  try {
    const { rows } = await pool.query<RecordedSchema>(
      `WITH recorded AS (
         SELECT key AS name, value AS needed FROM ledger_schema, jsonb_each_text(objects)
       ),
       found AS (
         SELECT kind, relation, ${objectName} AS name, definition FROM schema_objects
       ),
       differences AS (
         SELECT name, needed, definition AS found
         FROM recorded FULL JOIN found USING (name)
         WHERE needed IS DISTINCT FROM definition
           AND (needed IS NOT NULL
                -- Another index changes no result.
                OR kind IN ('column', 'constraint', 'unique_index', 'trigger')
                   AND concat_ws(' ', 'table', relation) IN (SELECT name FROM recorded))
         ORDER BY name
       )
       SELECT volley, migrations AS digests, ARRAY(SELECT name FROM knex_migrations ORDER BY name) AS done,
              (SELECT coalesce(json_agg(differences), '[]') FROM differences) AS differences
       FROM ledger_schema`,
    );
    return rows[0];
  } catch (error) {
    if (hasCode(error, undefinedTable)) return undefined;
    throw error;
  }
}

async function hasMigrations(pool: pg.Pool): Promise<boolean> {
  const found = await pool.query<{ table: string | null }>(`SELECT to_regclass('knex_migrations') AS table`);
  if (found.rows[0]?.table == null) return false;
  return ((await pool.query('SELECT FROM knex_migrations LIMIT 1')).rowCount ?? 0) > 0;
}

/**
 * Other digests of two migrations: `20261128120101_blocks_read_once` makes ledgers with the texts of 27 November 2026
 * equal to others, and the compiler indents the last text otherwise.
 */
const otherDigests: readonly string[] = [
  '20261127180101_inbox_blocks 66a946440e8755d1',
  '20261127180201_folded_outcomes 87ab7122b703def4',
  '20261127180201_folded_outcomes 64a450c4f22163ba',
  '20261127180201_folded_outcomes c1f8943a8254f351',
];

/** Whether a ledger with this digest has the migration of this Volley, or one that later migrations make equal. */
export function isKnownDigest(migration: string, recorded: string, digest: string): boolean {
  return recorded === digest || otherDigests.includes(`${migration} ${recorded}`);
}

/** Migrations that were edited after the ledger was made. */
async function listEdited(
  names: readonly string[],
  recorded: Readonly<Record<string, string>>,
): Promise<string[]> {
  const edited = await Promise.all(
    names.map(async (name) => {
      const before = recorded[name];
      return before === undefined || isKnownDigest(name, before, await digestOfFile(name)) ? [] : [name];
    }),
  );
  return edited.flat();
}

/** Names a missing table or view without its parts. */
function describe(differences: readonly Difference[]): string[] {
  const gone = differences
    .filter(({ name, found }) => found === null && /^(table|view) /.test(name))
    .map(({ name }) => name.replace(/^\S+ /, ''));
  return differences
    .filter(({ name }) => !gone.some((relation) => name.replace(/^.* /, '').startsWith(`${relation}.`)))
    .map(({ name, needed, found }) =>
      found === null ? `${name} is missing` : `${name} is ${found}, not ${needed}`,
    );
}
