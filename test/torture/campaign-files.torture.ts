import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openCampaignFiles } from '../../src/engine/plan/campaign-files.ts';
import { makeWorkspace } from '../support/workspace.ts';

test('the files of a run may not exceed 2 GiB together', async () => {
  await using workspace = await makeWorkspace({ 'big.pdf': '' });
  await truncate(join(workspace.folder, 'big.pdf'), 20 * 1024 * 1024);
  const files = await openCampaignFiles(workspace.folder);
  for (let count = 1; count <= 102; count++) await files.read('big.pdf');
  await expect(files.read('big.pdf')).rejects.toThrow(
    'big.pdf: The file cannot be sent: the files of a run are over 2 GiB together.',
  );
});
