import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const architecture = readFileSync(new URL('../docs/architecture.md', import.meta.url), 'utf8');

/**
 * Reads the table of docs/architecture.md with this first heading: each folder or file, and its permitted
 * imports.
 */
function importTable(heading: string): Readonly<Record<string, readonly string[]>> {
  const [, ...lines] =
    architecture
      .slice(architecture.indexOf(`| ${heading} |`))
      .split('\n\n')[0]
      ?.split('\n') ?? [];
  const rows = lines.slice(1).map((line) => line.split('|').map((cell) => cell.trim()));
  return Object.fromEntries(
    rows.map(([, name = '', , others = '']) => [
      name.replaceAll('`', '').replace(/\/$/, ''),
      others === '–' ? [] : others.split(', '),
    ]),
  );
}

/** Excludes the room itself. */
const mayImport = importTable('Room');

/** Excludes the folder itself and files beside it. */
const engineMayImport = importTable('In `engine/`');

/** Excludes the folder itself and files beside it. */
const ledgerMayImport = importTable('In `ledger/`');

/** Packages restricted to some rooms or files. */
const allowedRooms: Readonly<Record<string, readonly string[]>> = {
  undici: ['gateway', 'sandbox'],
  pg: ['ledger', 'platform'],
  'pg-copy-streams': ['ledger'],
  'pg-boss': ['ledger/slices'],
  'p-limit': ['engine', 'sandbox'],
  'p-retry': ['engine'],
  knex: ['ledger'],
  fastify: ['server', 'sandbox', 'dashboard', 'platform/http-server.ts'],
  '@fastify/cookie': ['dashboard/dashboard.ts'],
  '@fastify/csrf': ['dashboard/base'],
  '@fastify/formbody': ['dashboard/dashboard.ts'],
  '@fastify/multipart': ['dashboard/uploads'],
  'htmx.org': ['dashboard/base'],
  'openid-client': ['dashboard/base'],
  '@fastify/rate-limit': ['server'],
  '@fastify/accepts': ['server/api'],
  '@fastify/swagger': ['server/api'],
  'fastify-type-provider-zod': ['server/api'],
  commander: ['cli'],
  'log-update': ['cli'],
  yaml: ['platform'],
  'fast-xml-parser': ['wire'],
  '@nodable/entities': ['wire'],
  'csv-parse': ['contacts', 'wire/soap-tts.ts'],
  yazl: ['report/formats'],
  yauzl: ['contacts/workbook'],
  saxes: ['contacts/workbook'],
  numfmt: ['contacts/workbook'],
  'csv-stringify': ['report', 'wire/soap-tts.ts'],
  'prom-client': ['server'],
  'lru-cache': ['engine', 'server', 'sandbox'],
  'music-metadata': ['engine'],
  'windows-iana': ['wire/time-zone.ts'],
  'libphonenumber-js': [
    'contacts',
    ...['countries.ts', 'phone-countries.ts', 'fast-phone-numbers.ts'].map((file) => `platform/${file}`),
  ],
  'string-width': ['report'],
  croner: ['campaign'],
  tinyglobby: ['engine'],
  'temporal-polyfill': ['campaign', 'platform/time-zone-names.ts', 'platform/zoned-times.ts'],
  'big.js': ['platform/money.ts', 'campaign', 'report'],
};

const pureRooms = ['campaign', 'decisions', 'wire'];
const effects = /^node:(fs|http|https|http2|net|tls|dns|child_process|worker_threads|timers|process|os)\b/;

type Import = { readonly from: string; readonly to: string };

const src = fileURLToPath(new URL('../src', import.meta.url));

/** Every import, including types; local ones as paths in `src`. */
const imports: readonly Import[] = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(ts|js)$/.test(path))
  .flatMap((path) => {
    const from = path.replaceAll('\\', '/');
    return specifiers(readFileSync(join(src, path), 'utf8')).map((to) => ({
      from,
      to: to.startsWith('.') ? normalize(join(dirname(from), to)).replaceAll('\\', '/') : to,
    }));
  });

function specifiers(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  const pattern = /(?<!')(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g;
  return [...code.matchAll(pattern)].flatMap(([, specifier]) => specifier ?? []);
}

const roomOf = (path: string): string => path.split('/')[0] ?? '';
/** A package can have the name of a file. */
const isLocal = ({ to }: Import): boolean =>
  /\.(ts|js)$/.test(to) && !to.startsWith('node:') && !Object.hasOwn(allowedRooms, to);
const written = ({ from, to }: Import): string => `${from} imports ${to}`;

test('this test finds imports in every file except the vocabulary and a few leaves', () => {
  expect(new Set(imports.map(({ from }) => roomOf(from)))).toEqual(new Set(Object.keys(mayImport)));
  expect(imports).toContainEqual({ from: 'cli/command-list.ts', to: 'cli/commands/run.ts' });
  expect(imports).toContainEqual({ from: 'cli/volley.js', to: 'cli/main.ts' });
  expect(imports).toContainEqual({ from: 'contacts/csv.ts', to: 'csv-parse/sync' });
});

test('every room has a row in the table', () => {
  const folders = readdirSync(src, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(new Set(folders.map(({ name }) => name))).toEqual(new Set(Object.keys(mayImport)));
});

test('reports import only types from the engine', () => {
  const files = readdirSync(join(src, 'report'), { recursive: true, encoding: 'utf8' });
  const values = files.filter(
    (path) =>
      path.endsWith('.ts') &&
      /^import (?!type )[^;]*\/engine\//m.test(readFileSync(join(src, 'report', path), 'utf8')),
  );
  expect(values).toEqual([]);
});

test('rooms import only from lower rooms', () => {
  const upwards = imports.filter((found) => {
    if (!isLocal(found)) return false;
    const [room, other] = [roomOf(found.from), roomOf(found.to)];
    return room !== other && !mayImport[room]?.includes(other);
  });
  expect(upwards.map(written)).toEqual([]);
});

describe.each([
  ['engine', engineMayImport],
  ['ledger', ledgerMayImport],
])('the folders of %s', (room, partMayImport) => {
  const parts = Object.keys(partMayImport);

  /** The folder of a file, or the file itself if the table names it. */
  const partOf = (path: string): string | undefined => {
    const [first, part = '', file] = path.split('/');
    return first === room && (file !== undefined || parts.includes(part)) ? part : undefined;
  };

  test('have one row each in the table', () => {
    expect(new Set(imports.flatMap(({ from }) => partOf(from) ?? []))).toEqual(new Set(parts));
  });

  test('are ordered in the table: a row names only earlier ones', () => {
    const forward = parts.filter((part, index) =>
      partMayImport[part]?.some((other) => !parts.slice(0, index).includes(other)),
    );
    expect(forward).toEqual([]);
  });

  test('import only from folders in their row, and shared files import from none', () => {
    const upwards = imports.filter(({ from, to }) => {
      const [part, other] = [partOf(from), partOf(to)];
      if (roomOf(from) !== room || other === undefined || part === other) return false;
      return part === undefined || !partMayImport[part]?.includes(other);
    });
    expect(upwards.map(written)).toEqual([]);
  });
});

test('no file imports itself, even through other files', () => {
  const importsOf = new Map<string, string[]>();
  for (const { from, to } of imports.filter(isLocal))
    importsOf.set(from, [...(importsOf.get(from) ?? []), to]);

  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (path.includes(file) || done.has(file)) return;
    for (const next of importsOf.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of importsOf.keys()) visit(file, []);
  expect(cycles).toEqual([]);
});

describe('a package is imported only in its rooms:', () => {
  test.each(Object.entries(allowedRooms))('%s', (name, rooms) => {
    const strangers = imports.filter(
      ({ from, to }) =>
        (to === name || to.startsWith(`${name}/`)) &&
        !rooms.some((room) => from === room || from.startsWith(`${room}/`)),
    );
    expect(strangers.map(written)).toEqual([]);
  });
});

test.each(pureRooms)('the room %s uses no file, socket, clock or process', (room) => {
  const impure = imports.filter(({ from, to }) => roomOf(from) === room && effects.test(to));
  expect(impure.map(written)).toEqual([]);
});

/** The SET clauses of UPDATE statements on slices. */
const slicesSet = readdirSync(join(src, 'ledger'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .flatMap((path) => {
    const source = readFileSync(join(src, 'ledger', path), 'utf8');
    const updates = source.matchAll(
      /UPDATE slices\b[^`;]*?\bSET\b([^`;]*?)(?:\bFROM\b|\bWHERE\b|\bRETURNING\b)/g,
    );
    return [...updates].map(([, set = '']) => ({ path: path.replaceAll('\\', '/'), set }));
  });

test('only one file changes the state, job, worker and owner of a slice', () => {
  const writers = slicesSet.filter(({ set }) => /\b(state|job|worker|owner) = /.test(set));
  expect(new Set(writers.map(({ path }) => path))).toEqual(new Set(['slice-states/transitions.ts']));
  expect(
    slicesSet.map(({ path }) => path),
    'files that set other columns',
  ).toContain('requests/advance.ts');
});

test('the vocabulary imports no other room', () => {
  expect(imports.filter(({ from, to }) => roomOf(from) === 'domain' && roomOf(to) !== 'domain')).toEqual([]);
});

test('every statement with more than three arrays uses batchOf, which keeps their order', () => {
  const unnested = /\bunnest\((?:[^()]*\$\d+::[^()]*){4}\)/;
  expect('FROM unnest($1::text[], $2::integer[], $3::uuid[], $4::text[])').toMatch(unnested);
  const byHand = readdirSync(join(src, 'ledger'), { recursive: true, encoding: 'utf8' })
    .map((path) => `ledger/${path.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.ts'))
    .filter((path) => unnested.test(readFileSync(join(src, path), 'utf8')));
  expect(byHand).toEqual([]);
});

test('docs/architecture.md names exactly the files in which knex builds queries', () => {
  const [, said = ''] =
    /knex runs the migrations, and builds ([^.]*(?:\.ts[^.]*)*)\./.exec(architecture) ?? [];
  const named = [...said.matchAll(/`([^`]+)`/g)].map(([, file]) => file);
  const forMigrations = [
    'ledger/connection.ts',
    'ledger/fingerprint.ts',
    'ledger/schema.ts',
    'ledger/slices/queue.ts',
  ];
  const importing = imports.filter(({ to }) => to === 'knex').map(({ from }) => from);
  expect(importing.toSorted()).toEqual([...forMigrations, ...named].toSorted());
});

test('docs/decisions/001-dependencies.md gives a reason for every dependency, and for no other package', () => {
  const rootFile = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
  const manifest: unknown = JSON.parse(rootFile('package.json'));
  const { dependencies, devDependencies, optionalDependencies } = z
    .object({
      dependencies: z.record(z.string(), z.string()),
      devDependencies: z.record(z.string(), z.string()),
      optionalDependencies: z.record(z.string(), z.string()),
    })
    .parse(manifest);
  const decision = rootFile('docs/decisions/001-dependencies.md');
  const inTable = [...decision.matchAll(/^\| (`.+?) \|/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`([^`~]+)`/g)].map(([, name]) => name),
  );
  const fixed = /^Fixed by the owner: (.+)\.$/m.exec(decision)?.[1]?.split(', ') ?? [];
  const reasoned = [...inTable, ...fixed];
  const installed = [
    ...Object.keys(dependencies),
    // Reasons for development dependencies are optional.
    ...Object.keys(devDependencies).filter((name) => reasoned.includes(name)),
    ...Object.keys(optionalDependencies).map((name) => name.replace(/\/.*/, '/*')),
  ];
  expect(reasoned.sort()).toEqual([...new Set(installed)].sort());
});

test('src runs as it stands on the oldest Node that the package allows, which has no `using`', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  const newer = files.filter((path) =>
    /^\s*(await )?using \w|DisposableStack/m.test(readFileSync(join(src, path), 'utf8')),
  );
  expect(newer).toEqual([]);
});
