import { isCollection, isMap, isScalar, isSeq, type Node, visit } from 'yaml';
import { z } from 'zod';
import { InputError } from '../domain/problems.ts';
import { splitSuggestion, suggestionOf } from './schema-messages.ts';
import { asSentence } from './sentence.ts';
import { didYouMean, oneOf } from './suggestions.ts';
import { findLookalikeMistake, findWrongIndentation, type YamlCheck } from './yaml-indentation.ts';
import { nodeAt, offsetOf, offsetOfKey, type Path } from './yaml-nodes.ts';
import { parseReadableYaml, parseYaml, repeatedKeyText, type YamlTree } from './yaml-syntax.ts';

type Shape = z.core.JSONSchema.BaseSchema;

/** A validated file that can locate its values. */
export type YamlFile<Value> = {
  readonly value: Value;
  /** `file:line:column` of the value at a path, or of its nearest parent in the file. */
  readonly locate: (path: Path) => string;
};

/**
 * Parses YAML and validates it. All scalars are text; the schema converts numbers.
 *
 * Custom messages of the schema begin with "expected …". The actual value is added to them, except for
 * `writeOnly` values (secrets).
 *
 * @throws InputError with all problems, each with file, line and column
 */
export function readYaml<Schema extends z.ZodType>(
  text: string,
  file: string,
  schema: Schema,
  maxKeys = defaultMaxKeys,
): YamlFile<z.output<Schema>> {
  try {
    return readAsWritten(text, file, schema, maxKeys);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw explainByIndentation(text, file, schema, error) ?? error;
  }
}

function readAsWritten<Schema extends z.ZodType>(
  text: string,
  file: string,
  schema: Schema,
  maxKeys: number,
): YamlFile<z.output<Schema>> {
  const tree = parseYaml(text, file);
  const { contents } = tree.document;
  if (contents === null || isEmpty(contents)) {
    const { required = [] } = shapeOf(schema);
    const keys = required.length > 0 ? `the keys ${required.join(', ')}` : 'a key with its value';
    const what = `The file is empty; expected ${keys}.`;
    throw new InputError([{ where: tree.at(0), what }]);
  }

  const keys = countKeys(tree.document);
  if (keys > maxKeys) {
    const what = `The file has ${keys.toLocaleString('en')} keys; expected at most ${maxKeys.toLocaleString('en')}.`;
    throw new InputError([{ where: file, what }]);
  }

  const result = schema.safeParse(tree.document.toJS());
  if (!result.success) {
    const shape = shapeOf(schema);
    const mistakes = result.error.issues.flatMap((issue) => mistakesOf(issue, shape, tree));
    mistakes.sort((one, other) => one.offset - other.offset);
    throw new InputError(mistakes.map(({ offset, what }) => ({ where: tree.at(offset), what })));
  }
  return { value: result.data, locate: (path) => tree.at(offsetOf(contents, path)) };
}

function countKeys(document: YamlTree['document']): number {
  let keys = 0;
  visit(document, {
    Pair: () => {
      keys++;
    },
  });
  return keys;
}

/** Rate cards may have 20,000 rates with several keys; other files are far smaller. */
const defaultMaxKeys = 200_000;

/** Creating one takes milliseconds. */
const shapes = new WeakMap<z.ZodType, Shape>();

function shapeOf(schema: z.ZodType): Shape {
  const known = shapes.get(schema);
  if (known) return known;
  const shape = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  shapes.set(schema, shape);
  return shape;
}

/** If one line's indentation is wrong, reports that and any other problem. */
function explainByIndentation(
  text: string,
  file: string,
  schema: z.ZodType,
  { problems }: InputError,
): InputError | undefined {
  const check = (source: string, changedLine?: number): YamlCheck => {
    const document = parseReadableYaml(source, changedLine);
    if (document === undefined) return { readable: false, problems: Number.POSITIVE_INFINITY };
    const issues = schema.safeParse(document.toJS()).error?.issues ?? [];
    return { readable: true, problems: issues.reduce((sum, issue) => sum + weightOf(issue), 0) };
  };
  const found = check(text);
  // Wrong values alone do not come from indentation.
  if (found.problems === 0) return undefined;
  const lines = problems.map(({ where }) => Number(/:(\d+):\d+$/.exec(where)?.[1] ?? 1));
  const lookalike = findLookalikeMistake(text, lines, check);
  if (lookalike)
    return new InputError([{ where: `${file}:${lookalike.line}:${lookalike.column}`, what: lookalike.what }]);
  // A repeated key is reported as such, unless fixing a nearby line fixes everything.
  const isOnlyRepeated = problems.every(({ what }) => what.endsWith(repeatedKeyText));
  const wrong = findWrongIndentation(text, lines, found.readable || isOnlyRepeated, check);
  if (!wrong) return undefined;
  const { line, actual, expected, fixed } = wrong;
  const spaces = actual === 1 ? '1 space' : `${actual} spaces`;
  const what = `The indentation of this line does not fit the lines around it: it has ${spaces}; expected ${expected}.`;
  const indentationProblem = { where: `${file}:${line}:${actual + 1}`, what };
  try {
    readAsWritten(fixed, file, schema, Number.POSITIVE_INFINITY);
    return new InputError([indentationProblem]);
  } catch (error) {
    return error instanceof InputError ? new InputError([indentationProblem, ...error.problems]) : undefined;
  }
}

/** Wrong indentation causes unknown keys, missing keys and wrong types. */
function weightOf(issue: z.core.$ZodIssue): number {
  if (issue.code === 'unrecognized_keys') return issue.keys.length;
  return issue.code === 'invalid_type' ? 1 : 0;
}

type Mistake = { readonly offset: number; readonly what: string };

function mistakesOf(issue: z.core.$ZodIssue, shape: Shape, tree: YamlTree): Mistake[] {
  const { contents } = tree.document;
  const wrongKey = issue.code === 'invalid_key' ? issue.issues[0] : undefined;
  if (wrongKey?.code === 'invalid_value') {
    const [parent, key] = [issue.path.slice(0, -1), String(issue.path.at(-1))];
    const what = describeUnknownKey(key, parent.join('.'), wrongKey.values.map(String));
    return [{ offset: offsetOfKey(contents, parent, key) ?? offsetOf(contents, parent), what }];
  }
  if (issue.code !== 'unrecognized_keys') {
    return [{ offset: offsetOf(contents, issue.path), what: explain(issue, shape, tree) }];
  }
  const known = Object.keys(shapeAt(shape, issue.path)?.properties ?? {});
  return issue.keys.map((key) => ({
    offset: offsetOfKey(contents, issue.path, key) ?? offsetOf(contents, issue.path),
    what: describeUnknownKey(key, issue.path.join('.'), known),
  }));
}

function describeUnknownKey(key: string, parent: string, known: readonly string[]): string {
  const parentText = parent === '' ? '' : ` in "${parent}"`;
  const list = known.length > 0 && known.length <= 12 ? ` Known here: ${known.join(', ')}.` : '';
  return `Unknown key "${key}"${parentText}.${didYouMean(key, known)}${list}`;
}

function explain(issue: z.core.$ZodIssue, shape: Shape, tree: YamlTree): string {
  const name = issue.path.length === 0 ? '' : `"${issue.path.join('.')}": `;
  const node = nodeAt(tree.document.contents, issue.path);
  const expected = shapeAt(shape, issue.path);
  if (node === undefined) return describeMissing(issue.path, expected);

  const got = expected?.writeOnly ? '' : `, got ${describeNode(node)}`;
  const quoting = expected?.writeOnly ? '' : suggestQuotes(node, tree);
  const [wanted, near] = splitSuggestion(issue.message);
  const words = issue.code === 'invalid_type' && issue.expected === 'array' ? listInYaml : wanted;
  const message = asSentence(`${name}${words}${words.startsWith('expected') ? got : ''}`);
  return `${message}${near}${suggestionOf(issue)}${isTypeIssue(issue) ? quoting : ''}`;
}

const listInYaml = 'expected a list, with "- " before each item';

/** YAML may have read such a value differently than intended. */
function isTypeIssue({ code }: z.core.$ZodIssue): boolean {
  return code === 'invalid_type' || code === 'invalid_value';
}

function describeMissing(path: Path, { description, enum: words }: Shape = {}): string {
  const what = words
    ? oneOf(words.map(String))
    : description?.replace(/^[A-Z](?=[ a-z])/, (first) => first.toLowerCase());
  return asSentence(`"${path.join('.')}" is missing${what ? `; expected ${what}` : ''}`);
}

function describeNode(node: Node): string {
  if (isMap(node)) return 'keys with values';
  if (isSeq(node)) return 'a list';
  if (isEmpty(node) || !isScalar(node)) return 'nothing';
  return quote(String(node.value));
}

/** A YAML list or map may have been meant as text: `SubAccount: [[state]]`. */
function suggestQuotes(node: Node, { source }: YamlTree): string {
  if (!isCollection(node) || !node.flow || !node.range) return '';
  const [start, end] = node.range;
  const written = source.slice(start, end);
  return ` A text that begins with "${written[0]}" must be in quotes: ${quote(written)}.`;
}

function quote(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return `"${line.length > 60 ? `${line.slice(0, 59)}…` : line}"`;
}

function isEmpty(node: Node): boolean {
  return isScalar(node) && node.type === 'PLAIN' && node.value === '';
}

function shapeAt(shape: Shape, path: Path): Shape | undefined {
  let current: Shape | undefined = shape;
  for (const step of path) {
    const child: unknown =
      typeof step === 'number'
        ? current?.items
        : (current?.properties?.[String(step)] ?? current?.additionalProperties);
    current = isShape(child) ? child : undefined;
  }
  return current;
}

function isShape(value: unknown): value is Shape {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
