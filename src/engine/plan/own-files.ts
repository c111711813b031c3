import type { BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Campaign } from '../../campaign/campaign.ts';
import { standardInput } from '../../campaign/contacts-definition.ts';
import { projectFolder } from '../../platform/project.ts';
import { accountsPath } from '../definition-files.ts';
import type { Settings } from '../settings.ts';

/** Absolute paths of the files that make up a campaign. They are never sent. */
export function listOwnFiles({ value }: Campaign, path: string, settings: Settings): string[] {
  const { workingFolder } = settings;
  const campaignFile = resolve(workingFolder, path);
  const folder = dirname(campaignFile);
  const { contacts, chargeCodes } = value;
  const named = [...contacts.file, ...contacts.suppressions, ...(chargeCodes ? [chargeCodes.file] : [])];
  const settingFolders = new Set([folder, workingFolder, projectFolder(workingFolder)]);
  return [
    campaignFile,
    resolve(workingFolder, accountsPath(settings)),
    ...named.filter((name) => name !== standardInput).map((name) => resolve(folder, name)),
    ...[...settingFolders].map((each) => join(each, '.env')),
    ...(settings.envFiles ?? []),
  ];
}

/** Under any name, link or spelling. */
export async function createFileIdentityCheck(
  files: readonly string[],
): Promise<(status: BigIntStats) => boolean> {
  const known = new Set<string>();
  for (const file of files) {
    const status = await stat(file, { bigint: true }).catch(() => undefined);
    if (status) known.add(identity(status));
  }
  return (status) => known.has(identity(status));
}

function identity({ dev, ino }: BigIntStats): string {
  return `${dev} ${ino}`;
}
