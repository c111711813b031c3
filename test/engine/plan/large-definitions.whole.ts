import { writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { testWorkspace } from '../../support/test-workspace.ts';
import { volleyInProcess } from '../../support/volley.ts';
import { accountsYaml, smsCampaignYaml } from '../../support/workspace.ts';

const workspace = testWorkspace({ 'accounts.yaml': accountsYaml, 'campaign.yaml': smsCampaignYaml });

const check = async (file = 'campaign.yaml') => {
  const env = {
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    VOLLEY_SANDBOX_URL: 'http://127.0.0.1:1',
    VOLLEY_SANDBOX_TOKEN: 'any',
  };
  const { code, stderr } = await volleyInProcess(['plan', '--check', file], { cwd: workspace.folder, env });
  return { code, lines: stderr.trimEnd().split('\n') };
};

const many = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('');

describe('large campaign files', () => {
  test('a campaign with 20,000 keys is refused', async () => {
    await workspace.write('keys.yaml', smsCampaignYaml + many(20_000, (index) => `key${index}: 1\n`));
    const what = 'The file has 20,016 keys; expected at most 10,000.';
    expect((await check('keys.yaml')).lines).toEqual([`keys.yaml: ${what}`]);
  });

  test('of 9,000 unknown keys, 20 are listed and the rest counted', async () => {
    await workspace.write('keys.yaml', smsCampaignYaml + many(9_000, (index) => `key${index}: 1\n`));
    const { code, lines } = await check('keys.yaml');
    expect(code).toBe(2);
    expect(lines).toHaveLength(21);
    expect(lines[19]).toContain('Unknown key "key19"');
    expect(lines[20]).toBe('keys.yaml: 8,980 more problems are not shown.');
  });

  test('of 20,000 duplicate keys and special YAML characters, 20 are listed and the rest counted', async () => {
    await workspace.write('repeated.yaml', smsCampaignYaml + many(20_000, () => 'key: &a b\n'));
    const { code, lines } = await check('repeated.yaml');
    expect([code, lines.length]).toEqual([2, 21]);
    expect(lines[0]).toContain('Key "key" is written twice');
  });

  test('a campaign over half a mebibyte is refused without being parsed', async () => {
    await workspace.write('large.yaml', `${smsCampaignYaml}# ${'x'.repeat(600_000)}\n`);
    expect((await check('large.yaml')).lines).toEqual([
      'large.yaml: The campaign file has 587 KiB; expected at most 512 KiB.',
    ]);
  });
});

describe('large contact files', () => {
  test('a contact file with 60,000 columns is refused', async () => {
    await workspace.write('contacts.csv', `mobile,name,code,${many(60_000, (index) => `c${index},`)}\n`);
    expect(await check()).toEqual({
      code: 2,
      lines: [
        expect.stringMatching(/^contacts\.csv:1: The header has 60,004 columns; expected at most 2,000\./),
      ],
    });
  });

  test('an error about a missing column lists only the first of many columns', async () => {
    await workspace.write('contacts.csv', `phone,name,code,${many(1_000, (index) => `c${index},`)}z\n`);
    const { lines } = await check();
    expect(lines[0]).toMatch(/c16 and 984 more\.$/);
  });

  test('a compressed file that expands a hundredfold is refused while it is read', async () => {
    // In a column that no message has, so that reading takes the time.
    const row = `0412345678,Ann,c,${'x'.repeat(50_000)}\n`;
    await writeFile(
      `${workspace.folder}/contacts.csv`,
      gzipSync(`mobile,name,code,note\n${row.repeat(1_360)}`),
    );
    const env = {
      VOLLEY_ACCOUNTS: 'accounts.yaml',
      VOLLEY_SANDBOX_URL: 'http://127.0.0.1:1',
      VOLLEY_SANDBOX_TOKEN: 'any',
    };
    const { code, stderr } = await volleyInProcess(['plan', 'campaign.yaml'], { cwd: workspace.folder, env });
    expect([code, stderr]).toEqual([2, expect.stringContaining('expands more than 100 times')]);
  });
});
