import { expect, test } from 'vitest';
import { readCampaign } from '../../src/campaign/campaign.ts';
import { definitionJsonSchema } from '../../src/campaign/definition.ts';
import { InputError } from '../../src/domain/problems.ts';
import { openAccounts } from '../../src/gateway/accounts-file.ts';
import { accountsJsonSchema } from '../../src/gateway/accounts-schema.ts';

/** Words that only programmers use. */
const libraryWords =
  /Invalid|CronPattern|Too (?:small|big)|Unrecognized|expected (?:string|array|object|record|number|int|union)\b|to have|undefined|\[object|regex|must match|ZodError/;

type Shape = {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly additionalProperties?: Shape | boolean;
  readonly propertyNames?: { readonly enum?: readonly string[] };
};

type Path = readonly (string | number)[];

/** Every path where a value can be written, including those inside lists, maps and alternatives. */
function pathsIn(shape: Shape, path: Path = []): Path[] {
  const { properties = {}, items, anyOf = [], additionalProperties } = shape;
  const free = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  return [
    ...(path.length === 0 ? [] : [path]),
    ...Object.entries(properties).flatMap(([key, inner]) => pathsIn(inner, [...path, key])),
    ...(items ? pathsIn(items, [...path, 0]) : []),
    ...(free ? pathsIn(free, [...path, 'name']) : []),
    ...anyOf.flatMap((inner) => pathsIn(inner, path)),
  ];
}

const wrongValues: readonly unknown[] = ['', '-1', 'x'.repeat(300), ['x'], { x: 'y' }];

/** Empty where the value is valid, as some are. */
function problemsIn(act: () => unknown): string[] {
  try {
    act();
    return [];
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return error.problems.map(({ where, what }) => `${where}: ${what}`);
  }
}

/** JSON is YAML. */
function written(base: Readonly<Record<string, unknown>>, path: Path, value: unknown): string {
  const put = (inside: unknown, [step, ...rest]: Path): unknown => {
    if (step === undefined) return value;
    if (typeof step === 'number') return [put(undefined, rest)];
    const there =
      typeof inside === 'object' && inside !== null && !Array.isArray(inside) ? { ...inside } : {};
    return Object.assign(there, { [step]: put(Reflect.get(there, step), rest) });
  };
  return JSON.stringify(put(base, path));
}

const campaign = {
  campaign: 'test',
  account: 'main',
  channel: 'sms',
  contacts: { file: 'a.csv' },
  message: { Message: 'Hi' },
};
const accounts = {
  accounts: { name: { interface: 'rest-2.02', baseUrl: 'https://service.example', authToken: '${TOKEN}' } },
};

test.each<[string, unknown, Readonly<Record<string, unknown>>, (source: string) => unknown]>([
  ['campaign', definitionJsonSchema(), campaign, (source) => readCampaign(source, 'a.yaml')],
  [
    'accounts file',
    accountsJsonSchema(),
    accounts,
    (source) => openAccounts(source, 'a.yaml').read('name', { TOKEN: 'x' }),
  ],
])('every problem is reported in words of our own, anywhere in a file: %s', (_, schema, base, read) => {
  const paths = pathsIn(schema as Shape);
  let refused = 0;
  const leaks: string[] = [];
  for (const path of paths) {
    for (const value of wrongValues) {
      const problems = problemsIn(() => read(written(base, path, value)));
      refused += problems.length;
      leaks.push(...problems.filter((problem) => libraryWords.test(problem.replace(/"[^"]*"/g, '""'))));
      expect(problems.filter((problem) => !/^a\.yaml(:\d+:\d+)?: .+[.?]$/s.test(problem))).toEqual([]);
    }
  }
  expect([...new Set(leaks)]).toEqual([]);
  expect(refused).toBeGreaterThan(paths.length * 2);
});
