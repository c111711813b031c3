import type { Campaign } from '../../campaign/campaign.ts';
import { createAddressReader } from '../../contacts/address.ts';
import { readSuppressionFile } from '../../contacts/suppression-file.ts';
import type { Problem } from '../../domain/problems.ts';
import type { Account } from '../../gateway/account.ts';
import type { OwnSuppression } from '../../ledger/planning/remove-suppressed.ts';
import type { Settings } from '../settings.ts';
import { comparedAddressReader } from '../suppressions/import-suppressions.ts';
import { closeContactFiles, openListFile } from './contact-files.ts';

export type SuppressionLists = {
  /** Can be read once. */
  readonly addresses: AsyncIterable<readonly OwnSuppression[]>;
  /** Lines read so far that contain no address: their count, and the first of them. */
  readonly unreadable: () => { readonly lines: number; readonly problems: readonly Problem[] };
  readonly close: () => Promise<void>;
};

const maxProblems = 20;

/**
 * @param account of the campaign; rows of other accounts in a list that Volley wrote are skipped
 * @throws InputError for the first file that cannot be read
 */
export async function openSuppressionLists(
  { value: { channel, contacts }, locate }: Campaign,
  { name: own, suppressionsOf = own }: Pick<Account, 'name' | 'suppressionsOf'>,
  path: string,
  settings: Settings,
): Promise<SuppressionLists> {
  const readAddress = createAddressReader(channel, contacts.country, 'allow');
  const files = await Promise.all(
    contacts.suppressions.map((name, index) => {
      const where = locate(['contacts', 'suppressions', index]);
      return openListFile({ path, name, where, kind: 'suppression file' }, settings);
    }),
  );
  let lines = 0;
  const problems: Problem[] = [];

  async function* addresses(): AsyncGenerator<readonly OwnSuppression[], void, undefined> {
    if (!readAddress) return;
    const options = { channels: [channel], readAddress: comparedAddressReader(readAddress) };
    for (const file of files) {
      for await (const batch of readSuppressionFile(file, options)) {
        const listed: OwnSuppression[] = [];
        for (const row of batch) {
          if (row.kind === 'address') {
            const { address, subAccount, line } = row;
            if (row.account !== '' && row.account !== suppressionsOf) continue;
            listed.push({ address, subAccount, file: file.name, line });
          } else {
            lines++;
            if (problems.length >= maxProblems) continue;
            problems.push({ where: file.place(row.line), what: row.detail });
          }
        }
        yield listed;
      }
    }
  }

  return {
    addresses: addresses(),
    unreadable: () => ({ lines, problems }),
    close: async () => {
      await closeContactFiles(files);
    },
  };
}
