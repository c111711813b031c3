import { SegmentedMessage } from 'sms-segments-calculator';
import type { Composition } from '../../campaign/composition.ts';
import { asPlaceholder, type Template } from '../../campaign/placeholders.ts';
import { variantName } from '../../campaign/variants.ts';
import type { CampaignFile, Envelope } from '../../domain/message.ts';
import { formatReason } from '../../domain/reasons.ts';
import type {
  FilledPlaceholder,
  RenderedFile,
  RenderedMessage,
  RenderedRow,
  RenderedSms,
} from '../../domain/rendered-message.ts';
import { chooseDifferingRows } from './differing-rows.ts';
import { countPages, readSeconds } from './file-length.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import { createMessageReader } from './previewed-contacts.ts';
import { type ChosenRow, chooseWantedRows, type RowChoice, type WantedRow } from './row-choice.ts';
import { createRowValues } from './row-values.ts';
import { charactersPerPart } from './sms-parts.ts';
import { createRewriter } from './sms-rewriting.ts';

/** @param wanted undefined: rows that show what differs */
export function createRowChoice(
  prepared: PreparedCampaign,
  wanted: readonly WantedRow[] | undefined,
): RowChoice {
  const { contactFiles } = prepared;
  if (!wanted) return chooseDifferingRows(prepared);
  return chooseWantedRows(wanted, (file) => contactFiles[file]?.name ?? '');
}

/** Reads what the chosen rows need, such as the sizes of their files. */
export async function renderRows(
  prepared: PreparedCampaign,
  chosen: readonly ChosenRow[],
  now: Date,
): Promise<RenderedRow[]> {
  const { campaign, messagesOf, files } = prepared;
  const readMessage = createMessageReader(prepared, now);
  const readValues = createRowValues(prepared);
  const readFile = createFileReader(files.read);
  const rows: RenderedRow[] = [];
  for (const found of chosen) {
    const { row, why, place } = found;
    const where = { row, why, file: place.file, line: place.line };
    if (found.kind === 'rejected') {
      const { column, reason, detail } = found.rejection;
      rows.push({ ...where, kind: 'rejected', column, reason, detail: formatReason(detail) });
      continue;
    }
    const { destination, text, ...envelope } = readMessage(found.contact, place);
    const [composition] = messagesOf(found.contact.variant ?? undefined);
    const placeholders = listFilledPlaceholders(composition, readValues(place.index, found.values));
    const filled = { channel: campaign.value.channel, destination, placeholders, text };
    const message = await renderMessage(envelope, filled, readFile);
    rows.push({ ...where, kind: 'message', variant: variantName(campaign.value, found.contact), message });
  }
  return rows;
}

export type FileReader = (file: CampaignFile) => Promise<RenderedFile>;

/** @param text of an SMS as its reader gets it; null in other channels */
export async function renderMessage(
  { fields, keypads, files, audio }: Envelope,
  {
    text,
    ...filled
  }: Pick<RenderedMessage, 'channel' | 'destination' | 'placeholders'> & { readonly text: string | null },
  readFile: FileReader,
): Promise<RenderedMessage> {
  const audioFiles = Object.entries(audio).map(
    async ([field, path]) => [field, await readFile({ path, name: path })] as const,
  );
  return {
    ...filled,
    fields,
    keypads,
    sms: text === null ? null : renderSms(text, fields['CharacterConversion'] === 'true'),
    files: await Promise.all(files.map(readFile)),
    audio: Object.fromEntries(await Promise.all(audioFiles)),
  };
}

export function createFileReader(read: PreparedCampaign['files']['read']): FileReader {
  const known = new Map<string, Promise<Omit<RenderedFile, 'name' | 'path'>>>();
  const measure = async (path: string) => {
    const content = await read(path);
    return { bytes: content.length, pages: countPages(content), seconds: readSeconds(content) };
  };
  return async ({ name, path }) => {
    const measured = known.get(path) ?? measure(path);
    known.set(path, measured);
    return { name, path, ...(await measured) };
  };
}

const bitsPerCharacter = { 'GSM-7': 7, 'UCS-2': 16 } as const;

export function renderSms(text: string, converts: boolean): RenderedSms {
  const { encodingName: encoding, segments } = new SegmentedMessage(text, 'auto', converts);
  const { alone, ofSeveral } = charactersPerPart[encoding];
  const parts = segments.map((segment) => ({
    // The header of a part has no text.
    text: Array.from(segment, ({ raw }) => raw ?? '').join(''),
    characters: segment.messageSizeInBits() / bitsPerCharacter[encoding],
  }));
  const sent = parts.map((part) => part.text).join('');
  return {
    encoding,
    parts,
    charactersPerPart: parts.length === 1 ? alone : ofSeveral,
    causes: encoding === 'UCS-2' ? createRewriter()(sent, encoding).causes : [],
  };
}

/** Every placeholder of a message with the value that one contact gives it, each once in each place. */
function listFilledPlaceholders(
  composition: Composition,
  valueIn: (column: string) => string,
): FilledPlaceholder[] {
  const { merge, serviceText } = composition;
  const slots = merge.kind === 'service' ? merge.slots : [];
  // Volley renders the text of a contact with an empty value (`campaign/envelope.ts`).
  const isMerged =
    slots.length > 0 && slots.every(({ column, fallback }) => (valueIn(column) || fallback) !== '');
  const filled = new Map<string, FilledPlaceholder>();
  for (const [place, template] of templatesOf(composition)) {
    for (const segment of template) {
      if (segment.kind === 'text') continue;
      const own = { place, mergedFrom: null };
      const found: FilledPlaceholder =
        segment.kind === 'service'
          ? { ...own, placeholder: segment.text, value: null, source: 'service' }
          : fillColumn(segment, valueIn, place);
      const slot = isMerged && place === serviceText?.definition.name && segment.kind === 'column';
      const field = slot
        ? slots.find(({ column, fallback }) => column === segment.column && fallback === segment.fallback)
            ?.field
        : undefined;
      filled.set(
        `${place}\0${found.placeholder}`,
        field === undefined ? found : { ...found, mergedFrom: field },
      );
    }
  }
  return [...filled.values()];
}

function fillColumn(
  { column, fallback }: { readonly column: string; readonly fallback: string },
  valueIn: (column: string) => string,
  place: string,
): FilledPlaceholder {
  const value = valueIn(column);
  const name = asPlaceholder(column);
  return {
    place,
    placeholder: fallback === '' ? name : name.replace(/\]\]$/, () => `|${fallback}]]`),
    value: value || fallback,
    source: value === '' && fallback !== '' ? 'fallback' : 'column',
    mergedFrom: null,
  };
}

function templatesOf(composition: Composition): (readonly [string, Template])[] {
  const { fields, audio, keypads, files, serviceText } = composition;
  return [
    ...fields.map(({ definition, template }) => {
      const isServices = definition === serviceText?.definition;
      return [definition.name, isServices ? serviceText.template : template] as const;
    }),
    ...audio.map(({ definition, template }) => [definition.name, template] as const),
    ...keypads.map(({ tone, routeNumber }) => [`Keypad ${tone}`, routeNumber] as const),
    ...files.map(({ path, name = [] }, index) => [`File ${index + 1}`, [...path, ...name]] as const),
  ];
}
