import { resolve } from 'node:path';
import type { ContactSample } from '../../campaign/first-campaign.ts';
import { openContactFile, readSample } from '../../contacts/contact-file.ts';
import { InputError } from '../../domain/problems.ts';
import { openFile } from '../plan/contact-files.ts';
import { isPattern } from '../plan/contact-patterns.ts';

const maxRows = 100;

/**
 * Reads the header and the first rows of a contact file.
 *
 * @param named as the user wrote it
 * @throws InputError if the file or its header cannot be read
 */
export async function readContactSample(
  named: string,
  workingFolder: string,
  where: string,
): Promise<ContactSample> {
  if (isPattern(named)) {
    const what = `In a campaign, the name ${named} stands for several files. Name one file, without * and ?.`;
    throw new InputError([{ where, what }]);
  }
  const { bytes, shown } = await openFile(resolve(workingFolder, named), named, where, 'contact file');
  return readSample(await openContactFile(bytes, shown), maxRows);
}
