import type { MessageFields } from '../domain/message.ts';
import type { Problem } from '../domain/problems.ts';
import { isServicePlaceholder } from '../wire/service-merge.ts';
import type { Campaign } from './campaign.ts';
import type { Definition } from './definition.ts';
import { plainName } from './guess-columns.ts';
import { parseTemplate, type Resolution, type Template, templateFaults } from './placeholders.ts';

/** Parses the text at a path of the campaign. */
export type ReadTemplate = (
  path: readonly (string | number)[],
  source: string,
  servicePlaceholders?: true,
) => Template;

/**
 * @param mapped the column of each mapped field
 * @param header column names of the contact files
 */
export function createTemplateReader(campaign: Campaign, mapped: MessageFields, header: readonly string[]) {
  const { value: definition, locate } = campaign;
  const problems: Problem[] = [];
  /** Names in placeholders, except those of the service. */
  const named = new Set<string>();
  const read: ReadTemplate = (path, source, servicePlaceholders) => {
    const resolve = (name: string): Resolution => {
      // The service's placeholders go first: a column named STOP must not replace the opt-out link.
      const isServices = servicePlaceholders && isServicePlaceholder(definition.channel, name);
      if (!isServices) named.add(name);
      return isServices ? { kind: 'service' } : resolveColumn(name, mapped, header);
    };
    const parsed = parseTemplate(source, resolve);
    const known = [...header, ...Object.keys(mapped)];
    const faults = [
      ...templateFaults(parsed, path.join('.'), 'placeholder', known),
      ...findOtherPlaceholders(parsed.template, known).map(
        ({ written, column }) =>
          `"${path.join('.')}": "${written}" would be sent as it stands. Write [[${column}]] for the column "${column}"; to send these characters, rename the column.`,
      ),
      ...missingFiles(parsed.template, definition).map((fault) => `"${path.join('.')}": ${fault}`),
    ];
    problems.push(...faults.map((what) => ({ where: locate(path), what })));
    return parsed.template;
  };
  return { read, problems, named };
}

function resolveColumn(name: string, mapped: MessageFields, header: readonly string[]): Resolution {
  const column = Object.hasOwn(mapped, name) ? mapped[name] : header.find((candidate) => candidate === name);
  return column === undefined ? { kind: 'unknown' } : { kind: 'column', column };
}

/** `[[File2]]` links to the second file (interface.md, 2.3). */
function missingFiles(template: Template, { files }: Definition): string[] {
  return template.flatMap((segment) => {
    const number = segment.kind === 'service' ? /^\[\[File(\d+)\]\]$/.exec(segment.text)?.[1] : undefined;
    return number !== undefined && Number(number) > files.length
      ? [`[[File${number}]] links to a file, and "files" has ${files.length || 'none'}.`]
      : [];
  });
}

/** How other programs write a placeholder: `{{name}}`, `${name}`, `{name}`, `%name%`, `«name»`, `[name]`. */
const otherPlaceholder =
  /\{\{\{?([^{}]+)\}?\}\}|\$?\{([^{}]+)\}|%([^%\s](?:[^%]*[^%\s])?)%|«([^«»]+)»|\[([^[\]]+)\]/g;

type OtherPlaceholder = { readonly written: string; readonly column: string };

/**
 * Finds columns in the placeholder syntax of other programs, which the recipients would read as it stands. Names are
 * compared without case, spaces, "_" and "-".
 */
function findOtherPlaceholders(template: Template, columns: readonly string[]): readonly OtherPlaceholder[] {
  const byName = new Map(columns.map((column) => [plainName(column), column]));
  return template.flatMap((segment) =>
    segment.kind !== 'text'
      ? []
      : [...segment.text.matchAll(otherPlaceholder)].flatMap(([written, ...names]) => {
          const column = byName.get(plainName(names.find((name) => name !== undefined) ?? ''));
          return column === undefined ? [] : [{ written, column }];
        }),
  );
}
