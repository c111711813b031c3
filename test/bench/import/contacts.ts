import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

export type Workload = {
  readonly folder: string;
  readonly file: string;
  /** With requests of 200 contacts, and with one request for each contact, because their texts differ. */
  readonly campaigns: { readonly chunks: string; readonly own: string };
};

export async function writeWorkload(folder: string, rows: number): Promise<Workload> {
  const file = join(folder, `${rows}.csv`);
  await writeContacts(file, rows);
  const campaigns = { chunks: join(folder, `${rows}.yaml`), own: join(folder, `${rows}-own.yaml`) };
  await writeFile(
    campaigns.chunks,
    campaignFor(`${rows}.csv`, 'Hi [[First Name|there]], power is off in [[city]] tonight. [[STOP]]'),
  );
  // More values than the service merges, one of them unique.
  const values =
    'Hi [[First Name|there]] [[Last Name]] ([[email]]), [[city]] [[post]] [[state]] is without power.';
  await writeFile(campaigns.own, campaignFor(`${rows}.csv`, values));
  await writeFile(join(folder, 'accounts.yaml'), accounts);
  return { folder, file, campaigns };
}

const accounts = `accounts:
  bench: { interface: rest-2.02, baseUrl: http://127.0.0.1:9, authToken: "\${BENCH_TOKEN}" }
`;

function campaignFor(file: string, message: string): string {
  return `campaign: bench
account: bench
channel: sms
contacts: { file: ${file}, country: AU, columns: { Recipient: mobile, First Name: first_name, Last Name: last_name } }
message:
  Message: "${message}"
  SubAccount: "[[state]]"
  ChargeCode: "NET-[[post]]"
`;
}

const states = ['NSW', 'VIC', 'QLD', 'WA', 'SA'];

/** Australian mobiles in national format. The same number of rows gives the same file. */
async function writeContacts(file: string, rows: number): Promise<void> {
  async function* lines(): AsyncGenerator<string> {
    let piece = 'first_name,last_name,mobile,city,state,post,email\n';
    for (let row = 0; row < rows; row++) {
      const number = row % 50 === 49 ? row - 1 : row;
      const digits = String((number * 7) % 39_999_983).padStart(8, '0');
      const post = 1000 + (row % 1000);
      piece += `Ann${row % 997},Example,04${digits.slice(0, 2)} ${digits.slice(2, 5)} ${digits.slice(5)},City ${row % 313},${states[row % 5]},${post},ann${row}@example.com\n`;
      if (piece.length > 65_536) {
        yield piece;
        piece = '';
      }
    }
    yield piece;
  }
  await pipeline(lines(), createWriteStream(file));
}
