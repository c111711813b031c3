import { posix } from 'node:path';
import { type Campaign, fieldsOf } from './campaign.ts';
import { asPlaceholder, hasPlaceholder, type Template } from './placeholders.ts';
import type { SendingAccount } from './sending-account.ts';
import { rowFolderOf } from './value-checks.ts';
import { sentVariants } from './variants.ts';

/**
 * Paths in a campaign: files to send, and recordings of a voice message. They are only rendered here; the code that
 * opens a file checks that it exists and is in the campaign's folder.
 */

type NamedPath = {
  readonly kind: 'file' | 'audio';
  readonly path: string;
  /** As rejections name it: `files.0.file`, `MessageToPeople`. */
  readonly column: string;
  readonly where: string;
};

/** Those of all variants. */
function pathsOf(campaign: Campaign, account: SendingAccount): NamedPath[] {
  const paths = sentVariants(campaign).flatMap((variant) => pathsOfVariant(variant.campaign, account));
  return [...new Map(paths.map((each) => [JSON.stringify(each), each])).values()];
}

function pathsOfVariant({ value, locate }: Campaign, account: SendingAccount): NamedPath[] {
  return [
    ...value.files.map(
      ({ file: path }, index): NamedPath => ({
        kind: 'file',
        path,
        column: `files.${index}.file`,
        where: locate(['files', index, 'file']),
      }),
    ),
    ...fieldsOf(value, account.interface)
      .filter(({ definition }) => definition.type === 'audio')
      .map(
        ({ definition, key, source: path }): NamedPath => ({
          kind: 'audio',
          path,
          column: definition.name,
          where: locate(['message', key]),
        }),
      ),
  ];
}

/** Files and recordings that all contacts share. */
export function staticFiles(
  campaign: Campaign,
  account: SendingAccount,
): Pick<NamedPath, 'kind' | 'path' | 'where'>[] {
  return pathsOf(campaign, account).flatMap(({ column: _, ...each }) =>
    hasPlaceholder(each.path) ? [] : [each],
  );
}

/** A folder from which contact rows can name files, and where the campaign names it. */
export type RowFolder = { readonly folder: string; readonly where: string };

/** The folders of paths with placeholders, by the column named in rejections. */
export function rowFolders(campaign: Campaign, account: SendingAccount): ReadonlyMap<string, RowFolder> {
  return new Map(
    pathsOf(campaign, account).flatMap(({ column, path, where }): [string, RowFolder][] => {
      const folder = rowFolderOf(path);
      return folder === undefined ? [] : [[column, { folder, where }]];
    }),
  );
}

/** The file's name for recipients if the campaign sets none. */
export function nameOfPath(path: string): string {
  return posix.basename(path);
}

/**
 * Why a contact's values cannot go into a path. A value must not contain a separator, or it could reach files of
 * other recipients. Fallbacks come from the campaign, so they are not checked.
 */
export function pathValueError(template: Template, valueIn: (column: string) => string): string | undefined {
  for (const segment of template) {
    if (segment.kind !== 'column') continue;
    const value = valueIn(segment.column);
    if (value === '' && segment.fallback === '')
      return `${asPlaceholder(segment.column)} is empty, and the path needs it`;
    if (/[/\\]/.test(value) || value === '.' || value === '..') {
      return `"${value}" in ${asPlaceholder(segment.column)} would lead to another folder`;
    }
  }
  return undefined;
}
