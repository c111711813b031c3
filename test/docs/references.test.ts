import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import {
  documentPaths,
  inlineCodesOf,
  type Piece,
  projectFolder,
  readDocument,
} from '../support/documents.ts';

const codes = documentPaths.flatMap(inlineCodesOf);
const paths = readdirSync(`${projectFolder}/src`, { recursive: true, encoding: 'utf8' });

/** Files and folders that users make, and those of the operating system. */
const ofUsers = /^(campaigns\/first\.yaml|done\/|\.volley\/.*|node_modules\/.*)$/;
const ofSystem = /^\/(backup|opt|srv|etc|var|tmp|dev|proc|usr)(\/|$)/;

test('every link leads to an existing file and heading', () => {
  const broken: string[] = [];
  for (const path of documentPaths)
    for (const [, link = ''] of readDocument(path).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(link)) continue;
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : join(dirname(path), file);
      if (!existsSync(join(projectFolder, target))) broken.push(`${path}: ${link}: no such file`);
      else if (anchor !== undefined && !anchorsOf(target).has(anchor))
        broken.push(`${path}: ${link}: no such heading`);
    }
  expect(broken).toEqual([]);
});

/** The anchors that GitHub and others make from headings. */
function anchorsOf(path: string): ReadonlySet<string> {
  const headings = [...readDocument(path).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ),
  );
}

test('every file and folder of the project that a document names exists', () => {
  const named = codes.filter(
    ({ text }) =>
      /^[\w.-]+(\/[\w.-]+)*\/$|^[\w.-]+(\/[\w.-]+)+\.\w+$|^[\w-]+\.ts$/.test(text) &&
      /\/$|\.(ts|js|yaml|json|md|csv|pdf)$/.test(text),
  );
  expect(named.length).toBeGreaterThan(80);
  expect(named.filter(({ text }) => !ofUsers.test(text) && !exists(text))).toEqual([]);
});

/** A path is relative to the project, to `src` or to one of its rooms. */
function exists(path: string): boolean {
  const plain = path.replace(/\/$/, '');
  const isHere = [projectFolder, `${projectFolder}/src`].some((root) => existsSync(join(root, plain)));
  return isHere || paths.some((known) => known.endsWith(`/${plain}`));
}

/** The contract of the service, which docs/reference/interfaces.md introduces. */
const contract = 'interface.md';

test('every document that the code cites exists, and has the cited heading', () => {
  const cited = paths
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) =>
      [
        ...readFileSync(`${projectFolder}/src/${path}`, 'utf8').matchAll(
          /(?<![\w./-])((?:docs\/)?[\w./-]+\.md)\b(?:, "([^"\n]+)")?/g,
        ),
      ].map(([, document = '', heading]) => ({ path, document, heading })),
    )
    .filter(({ document }) => document !== contract);
  expect(cited.length).toBeGreaterThan(40);
  const headingsOf = (document: string): readonly string[] =>
    [...readDocument(document).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);
  const wrong = cited.filter(
    ({ document, heading }) =>
      !existsSync(join(projectFolder, document)) ||
      (heading !== undefined && !headingsOf(document).includes(heading)),
  );
  expect(wrong).toEqual([]);
});

test('every name of the code that a document mentions is in the code', () => {
  const code = ['src', 'migrations', 'campaigns']
    .flatMap((folder) =>
      readdirSync(`${projectFolder}/${folder}`, { recursive: true, encoding: 'utf8' }).map(
        (name) => `${projectFolder}/${folder}/${name}`,
      ),
    )
    .filter((path) => /\.(ts|js|yaml|json)$/.test(path))
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
  const names = codes.filter(({ text }) => /^[a-z]+(?:[A-Z][a-z]+)+$/.test(text));
  expect(names.length).toBeGreaterThan(40);
  const known = new Set(code.match(/\w+/g));
  expect(names.filter(({ text }) => !known.has(text))).toEqual([]);
});

type Operations = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
const api: { readonly servers: readonly { readonly url: string }[]; readonly paths: Operations } = JSON.parse(
  readFileSync(`${projectFolder}/docs/reference/openapi.json`, 'utf8'),
);
const [{ url: prefix } = { url: '' }] = api.servers;
const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
);

test('docs/reference/api.md has every operation of docs/reference/openapi.json, and no other', () => {
  const routes = inlineCodesOf('docs/reference/api.md').filter(({ text }) =>
    /^(GET|POST|PUT|PATCH|DELETE) \//.test(text),
  );
  expect(routes.map(({ text }) => text).toSorted()).toEqual(operations.toSorted());
});

/** Paths of the receiver and the sandbox; the walkthrough calls them. */
const askedElsewhere =
  /^\/(healthz|readyz|metrics|webhook\/.*)$|^\/api\/(v2\.\d\d|json|xml|\{format\})\/|^\/send\/$/;

test('every path that a document names belongs to the API, the receiver, the sandbox or the system', () => {
  const served = new Set([
    ...Object.keys(api.paths).map((path) => prefix + path),
    prefix,
    `${prefix}/openapi.json`,
  ]);
  const unknown = codes
    .filter(
      ({ where }) =>
        !where.startsWith('docs/reference/campaign.md') && !where.startsWith('docs/reference/accounts.md'),
    )
    .flatMap((piece) => pathsOf(piece))
    .filter(({ text }) => !ofSystem.test(text) && !askedElsewhere.test(text) && !served.has(text));
  expect(unknown.filter(({ text }) => !Object.hasOwn(api.paths, text))).toEqual([]);
});

/** The paths in `GET /runs`, in an address of this machine, or alone. */
function pathsOf({ where, text }: Piece): Piece[] {
  const path =
    /^(?:(?:GET|POST|PUT|PATCH|DELETE) )?(?:http:\/\/127\.0\.0\.1:\d+|\{baseUrl\})?(\/[a-z][^ ?]*)/.exec(
      text,
    )?.[1];
  return path === undefined ? [] : [{ where, text: path }];
}
