import type { FieldSource } from '../../campaign/mapping.ts';
import type { MergePlan } from '../../campaign/merge.ts';
import { formatLate, type RunForecast } from '../../engine/plan/forecast.ts';
import { planNotes } from '../../engine/plan/plan-notes.ts';
import type { Preview, PreviewedFile, PreviewedMessage } from '../../engine/plan/preview.ts';
import { showInvisible } from '../../platform/invisible-characters.ts';
import { count } from '../../platform/sentence.ts';
import { toInstant } from '../../platform/zoned-times.ts';
import { rejectedColumns } from '../../report/lists/rejected.ts';
import { plannedVariantColumns } from '../../report/lists/variants.ts';
import { partCauseLines } from '../../report/part-causes.ts';
import { printable } from '../../report/printable.ts';
import { formatWaits } from '../../report/run/run-summary.ts';
import { plainScreen, type Screen } from '../../report/screen.ts';
import { formatTable } from '../../report/table.ts';
import { formatMinute, localizeTimes, screenZone } from '../../report/time.ts';
import { rateText } from '../../report/wait-words.ts';
import {
  costText,
  filteredText,
  isDivided,
  originLines,
  testLines,
  totalText,
  unreadableText,
  warningText,
} from './plan-lines.ts';

/** @param written whether the command writes the plan or a page too, and says so itself */
export function previewText(preview: Preview, screen: Screen = plainScreen, written = false): string {
  const { contacts, rejected } = preview;
  const rejectedCount = contacts.invalid + contacts.duplicate + contacts.suppressed;
  const others = filteredText(preview.filtered);
  const waits = preview.variants?.some(({ gets }) => gets === 'winner');
  const control = preview.variants?.find(({ gets }) => gets === 'nothing')?.recipients ?? 0;
  const inControl = control > 0 ? `, ${control} in the control group` : '';
  const beyond =
    contacts.beyondLimit === undefined
      ? ''
      : `, ${contacts.beyondLimit} ${waits ? 'waiting for the winner' : 'beyond the limit'}`;
  const parts = [
    `Plan of ${preview.campaign}: ${preview.channel} through account ${preview.account}. Nothing has been sent${written ? '' : ' or written'}.`,
    `  contacts    ${contacts.read} read: ${preview.recipients} to send to, ${contacts.invalid} invalid, ${contacts.duplicate} duplicate, ${contacts.suppressed - control} suppressed${inControl}${beyond}${others}`,
    ...(contacts.invalid > 0 ? [`  invalid     ${printable(preview.invalidBecause.join('; '))}`] : []),
    ...(preview.origins ? originLines(preview.origins) : []),
    ...(preview.test ? testLines(preview.test) : []),
    ...preview.files.map((file) => `  file        ${fileText(file)}`),
    ...preview.warnings.map(warningText),
    `  mapping     ${preview.mapping.map(sourceText).join(', ')}`,
    `  fields      of each recipient: ${preview.sentFields.recipient.join(', ')}; of each request: ${preview.sentFields.request.join(', ')}`,
    `  requests    ${preview.requests}, with ${preview.envelopes} different contents or billing codes`,
    `  merging     ${mergeText(preview.merge)}`,
  ];
  if (preview.smsParts !== null) {
    parts.push(
      `  SMS parts   ${preview.smsParts}, with the service's own placeholders counted as written`,
      ...partCauseText(preview),
    );
  }
  if (preview.ledger === 'not read') {
    parts.push('  ledger      not read: its suppressions and earlier runs are not known');
  }
  if (preview.repeats !== null)
    parts.push(`  repeats     ${printable(localizeTimes(screen, preview.repeats))}`);
  if (preview.unfinished !== null) parts.push(`  unfinished  ${printable(preview.unfinished)}`);
  if (preview.differing !== null) parts.push(`  duplicates  ${printable(preview.differing)}`);
  parts.push(
    `  cost        ${totalText(preview.cost)}${waits ? ', with the rest' : ''}`,
    ...forecastText(preview.forecast, screen),
  );
  for (const { label, text } of planNotes(preview)) parts.push(`  ${label.padEnd(11)} ${printable(text)}`);
  if (preview.variants) {
    const currency = preview.cost.kind === 'known' ? preview.cost.currency : undefined;
    parts.push('', formatTable(plannedVariantColumns(currency), preview.variants, screen));
  }
  if (isDivided(preview.cost)) parts.push('', costText(preview.cost, screen));
  if (preview.unreadableSuppressions.lines > 0) {
    parts.push('', ...unreadableText(preview.unreadableSuppressions));
  }
  if (rejected.length > 0) {
    parts.push(
      '',
      `Rejected contacts (${rejected.length} of ${rejectedCount} shown)`,
      formatTable(rejectedColumns(rejected), rejected, screen),
    );
  }
  const severalFiles = preview.files.length > 1;
  for (const message of preview.messages) parts.push('', messageText(message, severalFiles));
  return parts.join('\n');
}

function partCauseText({ partCauses, smsParts }: Preview): string[] {
  if (!partCauses || smsParts === null) return [];
  const [sum, ...causes] = partCauseLines(partCauses, smsParts);
  return sum === undefined ? [] : [`  avoidable   ${sum}`, ...causes.map((line) => `              ${line}`)];
}

function forecastText({ endsAt, limits, windows, waits, deadline }: RunForecast, screen?: Screen): string[] {
  const rate = rateText(limits);
  const windowed = windows === 0 ? '' : `, in ${windows === 1 ? 'its window' : count(windows, 'window')}`;
  const ends = (time: string): string =>
    rate === ''
      ? `${time} or soon after${windowed}; no rate limit is set`
      : `${time}, started now, at ${rate}${windowed}`;
  const lines =
    endsAt === null
      ? []
      : [...formatWaits(waits, screen), `  ends        ${ends(formatMinute(screen, new Date(endsAt)))}`];
  if (deadline) {
    const { late, at, timeZone } = deadline;
    const moment = toInstant(at, timeZone);
    const ifKnown = rate === '' ? ', if sending took no time: no rate limit is set' : '';
    const text =
      late === 0
        ? `${formatMinute(screen, moment)}; no recipient would be late${ifKnown}`
        : printable(formatLate(deadline, endsAt, screenZone(screen)));
    lines.push(`  deadline    ${text}`);
  }
  return lines;
}

function fileText(file: PreviewedFile): string {
  const { name } = file;
  if (file.kind === 'workbook') {
    const { sheet, otherSheets, hiddenRows } = file;
    const hidden = hiddenRows === 0 ? '' : `, with ${count(hiddenRows, 'hidden row')}`;
    const others = otherSheets.map((each) => `"${printable(each)}"`).join(', ');
    const notRead = otherSheets.length === 0 ? '' : `; not read: ${others}`;
    return `${printable(name)} (sheet "${printable(sheet)}"${hidden}${notRead})`;
  }
  const { encoding, delimiter, gzip } = file;
  const separated = delimiter === '\t' ? 'tab' : `"${delimiter}"`;
  return `${printable(name)} (${encoding}, columns separated by ${separated}${gzip ? ', gzip' : ''})`;
}
function sourceText({ field, kind, source }: FieldSource): string {
  const shown = showInvisible(source);
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
      return 'nothing to merge, all recipients get the same text';
    case 'engine':
      return `by Volley (${printable(merge.why)})`;
    case 'service': {
      const slots = merge.slots.map(({ field, column }) => `${printable(column)} in ${field}`);
      return `by the service: ${slots.join(', ')}`;
    }
  }
}

function messageText(
  { file, line, variant, destination, text, fields, keypads, files, audio }: PreviewedMessage,
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
    `${severalFiles ? `${printable(file)}:` : 'Line '}${line} → ${printable(Recipient)}${variant === null ? '' : ` (variant ${variant})`}`,
    ...Object.entries(others).map(([name, value]) => `    ${name}: ${printable(value)}`),
    ...values.map(([name, value]) => `  ${name}: ${printable(value)}`),
  ];
  if (text !== null && text !== fields['Message']) rows.push(`  reads: ${printable(text)}`);
  return rows.join('\n');
}
