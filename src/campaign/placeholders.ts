import { didYouMean } from '../platform/suggestions.ts';

/**
 * Placeholders: `[[Column]]`, and `[[Column|fallback]]` for an empty value, as in the interface. Pure; the caller
 * decides which names exist.
 */

/** `column` is a column of the contact file; `service` is for the service to fill. */
export type Segment =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'column'; readonly column: string; readonly fallback: string }
  | { readonly kind: 'service'; readonly text: string };

export type Template = readonly Segment[];

export type Resolution =
  | { readonly kind: 'column'; readonly column: string }
  | { readonly kind: 'service' }
  | { readonly kind: 'unknown' };

/** `unknown` holds names; `unclosed` the beginnings of incomplete placeholders. */
type ParsedTemplate = {
  readonly template: Template;
  readonly unknown: readonly string[];
  readonly unclosed: readonly string[];
};

const placeholder = /\[\[([^[\]]*)\]\]/g;

/** Whether a text is not constant. `parseTemplate` reports incomplete placeholders. */
export function hasPlaceholder(source: string): boolean {
  return source.includes('[[');
}

/**
 * Splits a message field into text and placeholders.
 *
 * @param resolve gives the meaning of a name. It is first asked for the whole content, because a service
 *   placeholder has no fallback and can contain a bar (`[[Link:https://x/?a|b]]`)
 */
export function parseTemplate(source: string, resolve: (name: string) => Resolution): ParsedTemplate {
  const template: Segment[] = [];
  const unknown: string[] = [];
  let end = 0;
  for (const match of source.matchAll(placeholder)) {
    const [whole, inside = ''] = match;
    if (match.index > end) template.push({ kind: 'text', text: source.slice(end, match.index) });
    end = match.index + whole.length;

    const segment = parsePlaceholder(inside, resolve);
    if (segment) template.push(segment);
    else unknown.push(inside.trim());
  }
  if (end < source.length) template.push({ kind: 'text', text: source.slice(end) });
  return { template, unknown, unclosed: template.flatMap(unclosedPlaceholders) };
}

function parsePlaceholder(inside: string, resolve: (name: string) => Resolution): Segment | undefined {
  const whole = inside.trim();
  if (resolve(whole).kind === 'service') return { kind: 'service', text: `[[${whole}]]` };

  const bar = inside.indexOf('|');
  const resolution = resolve(bar < 0 ? whole : inside.slice(0, bar).trim());
  if (resolution.kind !== 'column') return undefined;
  return { kind: 'column', column: resolution.column, fallback: bar < 0 ? '' : inside.slice(bar + 1) };
}

function unclosedPlaceholders(segment: Segment): string[] {
  if (segment.kind !== 'text') return [];
  const start = segment.text.indexOf('[[');
  return start < 0 ? [] : [segment.text.slice(start, start + 20)];
}

/** What is wrong with the text at a path of the campaign. @param known names that are similar to unknown ones */
export function templateFaults(
  { unknown, unclosed }: ParsedTemplate,
  path: string,
  what: 'placeholder' | 'column',
  known: readonly string[],
): string[] {
  return [
    ...unknown.map((inside) => {
      const [name = ''] = inside.split('|');
      return `Unknown ${what} [[${inside}]] in "${path}".${didYouMean(name.trimEnd(), known)}`;
    }),
    ...unclosed.map(
      (text) => `"${path}": "${text}" is no placeholder; expected [[Column]] or [[Column|fallback]].`,
    ),
  ];
}

/** A column as a placeholder, for messages. The name of a derived column already is one. */
export function asPlaceholder(column: string): string {
  return hasPlaceholder(column) ? column : `[[${column}]]`;
}

/** The columns of a template, with repetitions. */
export function columnsOf(template: Template): string[] {
  return template.flatMap((segment) => (segment.kind === 'column' ? [segment.column] : []));
}

/**
 * Renders a template for one contact. `escapeValue` applies to values and fallbacks, not to the text around them.
 */
export function render(
  template: Template,
  valueIn: (column: string) => string,
  escapeValue: (value: string) => string = (value) => value,
): string {
  let rendered = '';
  for (const segment of template) {
    rendered +=
      segment.kind === 'column' ? escapeValue(valueIn(segment.column) || segment.fallback) : segment.text;
  }
  return rendered;
}
