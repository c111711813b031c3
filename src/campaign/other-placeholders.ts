import type { Template } from './placeholders.ts';

/** How other programs write a placeholder: `{{name}}`, `${name}`, `{name}`, `%name%`, `«name»`, `[name]`. */
const otherPlaceholder =
  /\{\{\{?([^{}]+)\}?\}\}|\$?\{([^{}]+)\}|%([^%\s](?:[^%]*[^%\s])?)%|«([^«»]+)»|\[([^[\]]+)\]/g;

export type OtherPlaceholder = { readonly written: string; readonly column: string };

/**
 * Finds columns in the placeholder syntax of other programs, which the recipients would read as it stands. Names are
 * compared without case, spaces, "_" and "-".
 */
export function findOtherPlaceholders(
  template: Template,
  columns: readonly string[],
): readonly OtherPlaceholder[] {
  const byName = new Map(columns.map((column) => [comparable(column), column]));
  return template.flatMap((segment) =>
    segment.kind !== 'text'
      ? []
      : [...segment.text.matchAll(otherPlaceholder)].flatMap(([written, ...names]) => {
          const column = byName.get(comparable(names.find((name) => name !== undefined) ?? ''));
          return column === undefined ? [] : [{ written, column }];
        }),
  );
}

const comparable = (name: string): string => name.toLowerCase().replaceAll(/[\s_-]/g, '');
