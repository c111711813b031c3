import { SegmentedMessage } from 'sms-segments-calculator';
import type { CampaignFile } from '../../domain/message.ts';
import { formatReason } from '../../domain/reasons.ts';
import type {
  RenderedFile,
  RenderedMessage,
  RenderedRow,
  RenderedSms,
} from '../../domain/rendered-message.ts';
import { chooseDifferingRows } from './differing-rows.ts';
import { countPages, readSeconds } from './file-length.ts';
import { listFilledPlaceholders } from './filled-placeholders.ts';
import { createMessageReader } from './message-reader.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import { type ChosenRow, chooseWantedRows, type RowChoice, type WantedRow } from './row-choice.ts';
import { createRowValues } from './row-values.ts';
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
  const { campaign, composition, contactFiles, files } = prepared;
  const readMessage = createMessageReader(prepared, now);
  const readValues = createRowValues(
    contactFiles.map(({ header }) => header),
    composition.derived,
  );
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
    const { keypads, files: attached, audio, fields, destination, text } = readMessage(found.contact, place);
    const converts = fields['CharacterConversion'] === 'true';
    const message: RenderedMessage = {
      channel: campaign.value.channel,
      destination,
      fields,
      keypads,
      sms: text === null ? null : renderSms(text, converts),
      files: await Promise.all(attached.map(readFile)),
      audio: Object.fromEntries(
        await Promise.all(
          Object.entries(audio).map(
            async ([field, path]) => [field, await readFile({ path, name: path })] as const,
          ),
        ),
      ),
      placeholders: listFilledPlaceholders(composition, readValues(place.index, found.values)),
    };
    rows.push({ ...where, kind: 'message', message });
  }
  return rows;
}

export function createFileReader(
  read: PreparedCampaign['files']['read'],
): (file: CampaignFile) => Promise<RenderedFile> {
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
const charactersPerPart = { 'GSM-7': [160, 153], 'UCS-2': [70, 67] } as const;

export function renderSms(text: string, converts: boolean): RenderedSms {
  const { encodingName: encoding, segments } = new SegmentedMessage(text, 'auto', converts);
  const [alone, ofSeveral] = charactersPerPart[encoding];
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
