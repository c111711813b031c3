import type { z } from 'zod';

type Node = z.core.JSONSchema.JSONSchema;

/** A JSON Schema as a Markdown table. Keys of which the same is said share a row. */
export function schemaReference(title: string, purpose: string, schema: Node): string {
  const lines = new Map<string, string[]>();
  for (const { key, cells } of rows('', schema)) {
    const line = cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ');
    lines.set(line, [...(lines.get(line) ?? []), `\`${key}\``]);
  }
  return [
    `# ${title}`,
    '',
    `${purpose} It is generated from the schema (\`npm run docs\`). Unknown keys are refused.`,
    '',
    '| Key | Required | Value | Default | |',
    '|---|---|---|---|---|',
    ...[...lines].map(([line, keys]) => `| ${keys.join(', ')} | ${line} |`),
    '',
  ].join('\n');
}

type Row = { readonly key: string; readonly cells: readonly string[] };

function rows(prefix: string, { properties = {}, required = [] }: Node): Row[] {
  return Object.entries(properties).flatMap(([name, child]) => {
    // A key without allowed values exists only to be refused with a message.
    if (typeof child === 'boolean' || child.not !== undefined) return [];
    const key = `${prefix}${name}`;
    const cells = [
      required.includes(name) ? 'yes' : '',
      valueText(child),
      child.default === undefined || child.type === 'object' ? '' : `\`${JSON.stringify(child.default)}\``,
      child.description ?? '',
    ];
    return [{ key, cells }, ...childRows(key, child)];
  });
}

function childRows(key: string, { items, additionalProperties, anyOf = [], ...child }: Node): Row[] {
  if (anyOf.length > 0) return anyOf.flatMap((form) => childRows(key, form));
  if (typeof items === 'object' && !Array.isArray(items)) return rows(`${key}[].`, items);
  if (typeof additionalProperties === 'object') return rows(`${key}.<name>.`, additionalProperties);
  return rows(`${key}.`, child);
}

function valueText({ type, enum: values, const: only, anyOf, minimum, maximum }: Node): string {
  if (anyOf) {
    const forms = new Set(anyOf.map(valueText));
    return [...forms].map((form) => form.replace(/^(map|list)$/, 'a $1')).join(', or ');
  }
  if (only !== undefined) return `\`${only}\``;
  if (values) return values.map((value) => `\`${value}\``).join(', ');
  if (minimum !== undefined && maximum !== undefined) {
    // An amount is an exact text, and usually written as a number.
    return `${Array.isArray(type) ? 'amount' : 'whole number'}, ${minimum} to ${maximum}`;
  }
  // YAML text without quotes can look like a number or boolean.
  if (Array.isArray(type)) {
    if (!type.includes('string')) return 'list, or a map';
    return type.includes('array') ? 'text, or a list of texts' : 'text';
  }
  const kinds: Readonly<Record<string, string>> = {
    string: 'text',
    object: 'map',
    array: 'list',
    boolean: '`true`, `false`',
  };
  return kinds[type ?? ''] ?? '';
}
