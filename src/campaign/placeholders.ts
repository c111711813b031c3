/**
 * Placeholders have the interface's own syntax: `[[Column]]`, and `[[Column|fallback]]` for an empty value.
 * Parsing and rendering are pure; which names exist is the caller's business.
 */

/** A piece of a template. `column` names a column of the contact file; `service` is left for the service to fill. */
export type Segment =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'column'; readonly column: string; readonly fallback: string }
  | { readonly kind: 'service'; readonly text: string };

export type Template = readonly Segment[];

/** What a placeholder's name stands for, or `unknown`. */
export type Resolution =
  | { readonly kind: 'column'; readonly column: string }
  | { readonly kind: 'service' }
  | { readonly kind: 'unknown' };

export type ParsedTemplate = { readonly template: Template; readonly unknown: readonly string[] };

const placeholder = /\[\[([^[\]]*)\]\]/g;

/**
 * Splits a message field into text and placeholders.
 *
 * @param resolve says what a name stands for; names it does not know are listed in `unknown` and kept as text.
 */
export function parseTemplate(source: string, resolve: (name: string) => Resolution): ParsedTemplate {
  const segments: Segment[] = [];
  const unknown: string[] = [];
  let end = 0;
  for (const match of source.matchAll(placeholder)) {
    const [whole, inside = ''] = match;
    if (match.index > end) segments.push({ kind: 'text', text: source.slice(end, match.index) });
    end = match.index + whole.length;

    const bar = inside.indexOf('|');
    const name = (bar < 0 ? inside : inside.slice(0, bar)).trim();
    const resolution = resolve(name);
    if (resolution.kind === 'column') {
      const fallback = bar < 0 ? '' : inside.slice(bar + 1);
      segments.push({ kind: 'column', column: resolution.column, fallback });
    } else {
      if (resolution.kind === 'unknown') unknown.push(name);
      segments.push({ kind: 'service', text: whole });
    }
  }
  if (end < source.length) segments.push({ kind: 'text', text: source.slice(end) });
  return { template: segments, unknown };
}

export function isConstant(template: Template): boolean {
  return template.every(({ kind }) => kind !== 'column');
}

/** Fills a template for one contact. `escapeValue` is applied to values, not to the text around them. */
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
