import { expect, test } from 'vitest';
import { makeReplicatedOrigin } from '../support/replicated-postgres.ts';
import { volleyInProcess } from '../support/volley.ts';
import { makeWorkspace } from '../support/workspace.ts';

const cellsYaml = `cells:
  north:
    read: \${NORTH_READ_URL}
    accounts: [alfa]
`;

test('a report and a list of a cell that is read from a standby say that they may lack the newest', async () => {
  await using origin = await makeReplicatedOrigin();
  await using pair = await origin.startPair('asynchronous');
  await using workspace = await makeWorkspace({ 'cells.yaml': cellsYaml });
  const ask = (url: string, ...words: string[]) =>
    volleyInProcess(words, {
      cwd: workspace.folder,
      env: { VOLLEY_CELLS: 'cells.yaml', NORTH_READ_URL: url },
    });
  for (const report of [
    ['billing', 'report', '--json'],
    ['report', 'campaigns', '--json'],
  ]) {
    const { code, stdout } = await ask(pair.standbyUrl, ...report);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).subtitle).toContain(
      'cell north is read from a standby, which may lack the newest',
    );
  }
  expect(await ask(pair.standbyUrl, 'runs')).toMatchObject({
    code: 0,
    stderr: 'cell north: It is read from a standby, which may lack the newest.\n',
  });
  expect(await ask(pair.url, 'runs')).toMatchObject({ code: 0, stderr: '' });
});
