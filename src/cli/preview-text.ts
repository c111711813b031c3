import type { FieldSource } from '../campaign/mapping.ts';
import type { MergePlan } from '../campaign/merge.ts';
import type { Preview, PreviewedMessage } from '../engine/preview.ts';
import { printable } from '../report/printable.ts';
import { rejectedTable } from '../report/run-details.ts';

/** What `volley plan` prints. */
export function previewText(preview: Preview): string {
  const { contacts, rejected } = preview;
  const leftOut = contacts.invalid + contacts.duplicate + contacts.suppressed;
  const others = preview.filtered === null ? '' : `; ${preview.filtered} more left out by contacts.where`;
  const parts = [
    `Plan of ${preview.campaign}: ${preview.channel} through account ${preview.account}. Nothing has been sent or written.`,
    `  contacts    ${contacts.read} read: ${preview.recipients} to send to, ${contacts.invalid} invalid, ${contacts.duplicate} duplicate${others}`,
    `  mapping     ${preview.mapping.map(sourceText).join(', ')}`,
    `  requests    ${preview.requests}, with ${preview.envelopes} different contents or billing codes`,
    `  merging     ${mergeText(preview.merge)}`,
  ];
  if (preview.smsParts !== null) {
    parts.push(`  SMS parts   ${preview.smsParts}, with the service's own placeholders counted as written`);
  }
  if (rejected.length > 0) {
    parts.push(
      '',
      `Contacts left out (${rejected.length} of ${leftOut} shown)`,
      rejectedTable(rejected, preview.files.length > 1),
    );
  }
  const severalFiles = preview.files.length > 1;
  for (const message of preview.messages) parts.push('', messageText(message, severalFiles));
  return parts.join('\n');
}

function sourceText({ field, kind, source }: FieldSource): string {
  const shown = printable(source);
  switch (kind) {
    case 'column':
      return `${field} from ${shown}`;
    case 'guessed':
      return `${field} from ${shown} (guessed)`;
    case 'template':
      return `${field} from "${shown}"`;
    case 'constant':
      return `${field} is "${shown}"`;
  }
}

function mergeText(merge: MergePlan): string {
  switch (merge.kind) {
    case 'none':
      return 'nothing to merge, everybody gets the same text';
    case 'engine':
      return `by Volley (${printable(merge.why)})`;
    case 'service': {
      const slots = merge.slots.map(({ field, column }) => `${printable(column)} in ${field}`);
      return `by the service: ${slots.join(', ')}`;
    }
  }
}

function messageText(
  { file, line, destination, text, fields, keypads, files, audio }: PreviewedMessage,
  severalFiles: boolean,
): string {
  const { Recipient, ...others } = destination;
  const values: readonly (readonly [string, string])[] = [
    ...Object.entries(fields),
    ...Object.entries(audio),
    ...keypads.map(({ Tone, RouteNumber }) => [`Keypad ${Tone}`, RouteNumber] as const),
    ...files.map(
      ({ name, path }, index) => [`File ${index + 1}`, name === path ? name : `${name} (${path})`] as const,
    ),
  ];
  const rows = [
    `${severalFiles ? printable(`${file}:${line}`) : `Line ${line}`} → ${printable(Recipient)}`,
    ...Object.entries(others).map(([name, value]) => `    ${name}: ${printable(value)}`),
    ...values.map(([name, value]) => `  ${name}: ${printable(value)}`),
  ];
  if (text !== null && text !== fields['Message']) rows.push(`  reads: ${printable(text)}`);
  return rows.join('\n');
}
