import { closest } from 'fastest-levenshtein';
import { isCollection, isMap, isScalar, LineCounter, type Node, parseDocument } from 'yaml';
import { z } from 'zod';
import { InputError, type Problem } from '../domain.ts';

type Path = readonly PropertyKey[];

/** A checked YAML file that still knows where each of its values stands. */
export type YamlFile<Value> = {
  readonly value: Value;
  /** `file:line:column` of the value at a path, or of its nearest parent that is written down. */
  readonly locate: (path: Path) => string;
};

/**
 * Reads YAML text and checks it against a schema.
 *
 * Scalars stay the text that was written (YAML's failsafe schema): `0123`, `+6421…` and `no` are not turned into
 * numbers and booleans behind the writer's back; the schema says which texts are numbers.
 *
 * @throws InputError with every problem found, each with file, line and column.
 */
export function readYaml<Schema extends z.ZodType>(
  text: string,
  file: string,
  schema: Schema,
): YamlFile<z.output<Schema>> {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { schema: 'failsafe', lineCounter, prettyErrors: false });
  const at = (offset: number): string => {
    const { line, col } = lineCounter.linePos(offset);
    return `${file}:${line}:${col}`;
  };

  if (document.errors.length > 0) {
    throw new InputError(
      document.errors.map((error) => ({ where: at(error.pos[0]), what: sentence(error.message) })),
    );
  }

  const locate = (path: Path): string => {
    for (let length = path.length; length > 0; length--) {
      const node = nodeAt(document.contents, path.slice(0, length));
      if (node?.range) return at(node.range[0]);
    }
    return at(document.contents?.range?.[0] ?? 0);
  };

  const result = schema.safeParse(document.toJS() ?? {});
  if (!result.success) {
    const shape = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    throw new InputError(
      result.error.issues.flatMap((issue) => problemsOf(issue, shape, document.contents, at, locate)),
    );
  }
  return { value: result.data, locate };
}

function problemsOf(
  issue: z.core.$ZodIssue,
  shape: z.core.JSONSchema.BaseSchema,
  contents: Node | null,
  at: (offset: number) => string,
  locate: (path: Path) => string,
): Problem[] {
  const name = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(shape, issue.path);
    return issue.keys.map((key) => ({
      where: keyPosition(contents, issue.path, key, at) ?? locate(issue.path),
      what: unknownKey(key, name, known),
    }));
  }
  const value = nodeAt(contents, issue.path);
  if (issue.code === 'invalid_type' && value === undefined) {
    return [{ where: locate(issue.path), what: `"${name}" is missing.` }];
  }
  const quoting =
    issue.code === 'invalid_type' && isCollection(value)
      ? ' A value that begins with "[" or "{" must stand in quotes.'
      : '';
  return [{ where: locate(issue.path), what: `"${name}": ${sentence(issue.message)}${quoting}` }];
}

/** "Did you mean …" for a word that is not in a closed list; empty when nothing is near. */
export function nearest(word: string, known: readonly string[]): string {
  if (known.length === 0) return '';
  const candidate = closest(word, [...known]);
  return ` Did you mean "${candidate}"?`;
}

function unknownKey(key: string, parent: string, known: readonly string[]): string {
  const place = parent === '' ? '' : ` in "${parent}"`;
  const list = known.length > 0 && known.length <= 12 ? ` Known here: ${known.join(', ')}.` : '';
  return `Unknown key "${key}"${place}.${nearest(key, known)}${list}`;
}

function knownKeys(shape: z.core.JSONSchema.BaseSchema, path: Path): string[] {
  let current: z.core.JSONSchema.BaseSchema | undefined = shape;
  for (const step of path) {
    const child: unknown =
      typeof step === 'number'
        ? current?.items
        : (current?.properties?.[String(step)] ?? current?.additionalProperties);
    current = isSchema(child) ? child : undefined;
  }
  return Object.keys(current?.properties ?? {});
}

function isSchema(value: unknown): value is z.core.JSONSchema.BaseSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nodeAt(contents: Node | null, path: Path): Node | undefined {
  let node: unknown = contents;
  for (const step of path) {
    if (!isCollection(node)) return undefined;
    node = node.get(step, true);
  }
  return isScalar(node) || isCollection(node) ? node : undefined;
}

function keyPosition(
  contents: Node | null,
  path: Path,
  key: string,
  at: (offset: number) => string,
): string | undefined {
  const map = path.length === 0 ? contents : nodeAt(contents, path);
  if (!isMap(map)) return undefined;
  for (const { key: node } of map.items) {
    if (isScalar(node) && String(node.value) === key && node.range) return at(node.range[0]);
  }
  return undefined;
}

function sentence(message: string): string {
  const text = message.trim().replace(/^./, (first) => first.toUpperCase());
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
