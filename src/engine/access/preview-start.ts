import { join } from 'node:path';
import { InputError, type Problem } from '../../domain/problems.ts';
import type { EngineContext } from '../context.ts';
import { createRanBeforeFinder, NothingNewError } from '../plan/contact-patterns.ts';
import { type ContactFileSize, describeContactFiles } from '../plan/describe-contact-files.ts';
import { prepareCampaign } from '../plan/prepare-campaign.ts';
import type { Preview } from '../plan/preview.ts';
import { previewCampaign } from '../plan/preview-campaign.ts';
import type { CampaignSource } from '../schedule/start-ticks.ts';

/** What a start of a campaign would do now. */
export type StartPreview =
  | { readonly kind: 'counted'; readonly preview: Preview }
  /** The contact files are too large to be read while a person waits. */
  | { readonly kind: 'large'; readonly files: readonly ContactFileSize[] }
  /** Every contact file that matches has run already. */
  | { readonly kind: 'nothing new'; readonly what: string }
  | { readonly kind: 'faulty'; readonly problems: readonly Problem[] };

/** Bytes of contact files: about 20,000 rows, which take a quarter of a second. */
const maxBytes = 1024 * 1024;

/** Reads the campaign with its account and contact files, as a start does. Sends and writes nothing. */
export async function previewStart(
  context: EngineContext,
  { folder, settings }: Pick<CampaignSource, 'folder' | 'settings'>,
  file: string,
): Promise<StartPreview> {
  const { environment, workingFolder, envFiles = [] } = settings;
  const path = join(folder, file);
  try {
    const prepared = await prepareCampaign(
      path,
      { environment, workingFolder, envFiles },
      { ranBefore: createRanBeforeFinder(context, undefined) },
    );
    try {
      if ((prepared.contactBytes ?? 0) > maxBytes)
        return { kind: 'large', files: await describeContactFiles(context, path, settings) };
      return { kind: 'counted', preview: await previewCampaign(prepared, context) };
    } finally {
      await prepared.close();
    }
  } catch (error) {
    if (error instanceof NothingNewError) return { kind: 'nothing new', what: error.message };
    if (error instanceof InputError) return { kind: 'faulty', problems: error.problems };
    throw error;
  }
}
