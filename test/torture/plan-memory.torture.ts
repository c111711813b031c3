import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { expect, test } from 'vitest';
import { startVolley } from '../support/volley.ts';
import { accountsYaml, makeWorkspace, smsCampaignYaml } from '../support/workspace.ts';

/** One in ten is a duplicate. */
const rows = 5_000_000;

async function* contactRows(): AsyncGenerator<string, void, undefined> {
  let piece = 'mobile,name,code\n';
  for (let index = 0; index < rows; index++) {
    const number = index % 10 === 9 ? index - 9 : index;
    piece += `04${String(12_000_000 + number).padStart(8, '0')},Name ${number},C${number % 5_000}\n`;
    if (piece.length < 60_000) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

const printPeak =
  'data:text/javascript,process.on("exit",()=>process.stderr.write(`peak ${process.resourceUsage().maxRSS}\\n`))';

test('a plan of five million rows takes at most 250 MiB, without a ledger too', async () => {
  await using workspace = await makeWorkspace({
    'accounts.yaml': accountsYaml,
    'campaign.yaml': smsCampaignYaml,
  });
  await pipeline(contactRows, createWriteStream(join(workspace.folder, 'contacts.csv')));
  const { code, stdout, stderr } = await startVolley(['plan', 'campaign.yaml', '--json'], {
    cwd: workspace.folder,
    env: {
      VOLLEY_ACCOUNTS: 'accounts.yaml',
      VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9',
      VOLLEY_SANDBOX_TOKEN: 'any',
    },
    nodeFlags: ['--import', printPeak],
  }).ended;
  const { contacts, recipients } = JSON.parse(stdout);
  expect({ code, recipients, duplicate: contacts.duplicate }).toEqual({
    code: 0,
    recipients: rows * 0.9,
    duplicate: rows * 0.1,
  });
  const peak = Number(/peak (\d+)/.exec(stderr)?.[1]) / 1024;
  console.log(`plan of ${rows.toLocaleString('en')} rows: ${Math.round(peak)} MiB`);
  expect(peak).toBeLessThan(250);
});
